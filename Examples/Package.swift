// swift-tools-version: 6.2

import PackageDescription

/// A program of one folder that uses the server, and more of our libraries.
func server(_ name: String, and libraries: [String] = [], exclude: [String] = []) -> Target {
    .executableTarget(
        name: name,
        dependencies: (["HTTPServerToolkit"] + libraries).map {
            .product(name: $0, package: "swift-http-toolkit")
        },
        path: name, exclude: exclude)
}

/// The toolkit's examples, each a program to read in a minute: `swift run --package-path Examples
/// HelloServer`. They are a package of their own, written as a user of the toolkit writes one.
let package = Package(
    name: "Examples",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "swift-http-toolkit", path: ".."),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    ],
    targets: [
        server("HelloWorld"),
        server("HelloServer"),
        server("Redirect"),
        server("EncryptedSite", and: ["HTTPServerTLS"]),
        server("EchoSocket", and: ["HTTPServerWebSocket"]),
        server("AsyncAnswers"),
        server("StaticSite"),
        server("DynamicSite", exclude: ["Website"]),
        server("FormExample"),
        server("FileUploadExample"),
        server("TextTransfer"),
        server(
            "MigrationGuide",
            and: [
                "HTTPServerAuthentication", "HTTPServerDiscovery", "HTTPServerProxies",
                "HTTPServerTLS", "HTTPServerWebSocket", "HTTPParser", "URLClient", "WebDAVKit",
                "WebUploader",
            ]),
        // The code of the documents, which Scripts/snippets writes to its folder Generated. SwiftPM
        // would make a program of each file in a folder Snippets.
        .target(
            name: "DocumentCode",
            dependencies: [
                "HTTPCodecs", "HTTPParser", "HTTPServerAuthentication", "HTTPServerCore",
                "HTTPServerDiscovery", "HTTPServerKit", "HTTPServerProxies", "HTTPServerTLS",
                "HTTPServerToolkit", "HTTPServerWebSocket", "HTTPToolkitTesting",
                "ResumableUploads", "URLClient", "URLClientFoundation", "WebDAVKit",
                "WebSocketFrames", "WebUploader",
            ].map { .product(name: $0, package: "swift-http-toolkit") } + [
                .product(name: "Logging", package: "swift-log")
            ],
            path: "DocumentCode",
            // Documents show values that are not used further.
            swiftSettings: [.unsafeFlags(["-suppress-warnings"])]),
        .target(
            name: "ShortPrograms",
            dependencies: [
                .product(name: "HTTPServerAuthentication", package: "swift-http-toolkit"),
                .product(name: "HTTPServerToolkit", package: "swift-http-toolkit"),
                .product(name: "URLClient", package: "swift-http-toolkit"),
                .product(name: "WebDAVKit", package: "swift-http-toolkit"),
            ],
            path: "ShortPrograms"),
        .executableTarget(
            name: "ProtectedFiles",
            dependencies: [
                .product(name: "HTTPServerAuthentication", package: "swift-http-toolkit"),
                .product(name: "HTTPServerToolkit", package: "swift-http-toolkit"),
            ],
            path: "ProtectedFiles"),
        .executableTarget(
            name: "CoreAlone",
            dependencies: [
                .product(name: "HTTPParser", package: "swift-http-toolkit"),
                .product(name: "HTTPServerCore", package: "swift-http-toolkit"),
            ],
            path: "CoreAlone"),
        .executableTarget(
            name: "ParserAlone",
            dependencies: [.product(name: "HTTPParser", package: "swift-http-toolkit")],
            path: "ParserAlone"),
        .executableTarget(
            name: "ConnectTo",
            dependencies: [
                .product(name: "HTTPParser", package: "swift-http-toolkit"),
                .product(name: "URLClient", package: "swift-http-toolkit"),
            ],
            path: "ConnectTo"),
        .executableTarget(
            name: "SharedFolder",
            dependencies: [
                .product(name: "HTTPServerToolkit", package: "swift-http-toolkit"),
                .product(name: "WebDAVKit", package: "swift-http-toolkit"),
            ],
            path: "SharedFolder"),
        .executableTarget(
            name: "UploadPage",
            dependencies: [
                .product(name: "HTTPServerToolkit", package: "swift-http-toolkit"),
                .product(name: "HTTPServerAuthentication", package: "swift-http-toolkit"),
                .product(name: "ResumableUploads", package: "swift-http-toolkit"),
                .product(name: "WebDAVKit", package: "swift-http-toolkit"),
                .product(name: "WebUploader", package: "swift-http-toolkit"),
            ],
            path: "UploadPage"),
    ]
)
