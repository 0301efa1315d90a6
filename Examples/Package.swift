// swift-tools-version: 6.2

import PackageDescription

/// The toolkit's examples, each a program to read in a minute: `swift run --package-path Examples
/// HelloServer`. They are a package of their own, written as a user of the toolkit writes one.
let package = Package(
    name: "Examples",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "swift-http-toolkit", path: "..")
    ],
    targets: [
        .executableTarget(
            name: "HelloServer",
            dependencies: [
                .product(name: "HTTPParser", package: "swift-http-toolkit"),
                .product(name: "HTTPServerCore", package: "swift-http-toolkit"),
            ],
            path: "HelloServer"),
        .executableTarget(
            name: "StaticSite",
            dependencies: [
                .product(name: "HTTPParser", package: "swift-http-toolkit"),
                .product(name: "HTTPServerCore", package: "swift-http-toolkit"),
            ],
            path: "StaticSite"),
        .executableTarget(
            name: "FormExample",
            dependencies: [
                .product(name: "HTTPParser", package: "swift-http-toolkit"),
                .product(name: "HTTPServerCore", package: "swift-http-toolkit"),
            ],
            path: "FormExample"),
        .executableTarget(
            name: "FileUploadExample",
            dependencies: [
                .product(name: "HTTPParser", package: "swift-http-toolkit"),
                .product(name: "HTTPServerCore", package: "swift-http-toolkit"),
            ],
            path: "FileUploadExample"),
        .executableTarget(
            name: "ParserAlone",
            dependencies: [.product(name: "HTTPParser", package: "swift-http-toolkit")],
            path: "ParserAlone"),
    ]
)
