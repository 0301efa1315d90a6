// swift-tools-version: 6.2

import PackageDescription

/// The rules of the main package.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableExperimentalFeature("Lifetimes"),
]

/// Peers are written as their own documentation writes a server.
let peer: [SwiftSetting] = [.swiftLanguageMode(.v6)]

// A separate package, so that users of the toolkit do not resolve its peers. Build one
// product at a time: `BenchServer` needs no peer at all, `ParserBench` only SwiftNIO.
let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "BenchServer", targets: ["BenchServer"]),
        .executable(name: "ParserBench", targets: ["ParserBench"]),
        .executable(name: "MultipartBench", targets: ["MultipartBench"]),
        .executable(name: "PeerNIO", targets: ["PeerNIO"]),
        .executable(name: "PeerHummingbird", targets: ["PeerHummingbird"]),
        .executable(name: "PeerFlyingFox", targets: ["PeerFlyingFox"]),
        .executable(name: "ClientBench", targets: ["ClientBench"]),
        .executable(name: "PeerAsyncHTTPClient", targets: ["PeerAsyncHTTPClient"]),
        .executable(name: "PeerURLSession", targets: ["PeerURLSession"]),
    ],
    dependencies: [
        // Without Foundation, as who needs none of its types has it.
        .package(name: "swift-http-toolkit", path: "..", traits: ["Server"]),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/swhitty/FlyingFox", exact: "0.27.1"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
    ],
    targets: [
        .executableTarget(
            name: "BenchServer",
            dependencies: [
                .product(name: "HTTPServerToolkit", package: "swift-http-toolkit"),
                .product(name: "HTTPServerTLS", package: "swift-http-toolkit"),
                .product(name: "HTTPServerWebSocket", package: "swift-http-toolkit"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "ParserBench",
            dependencies: [
                .product(name: "HTTPParser", package: "swift-http-toolkit"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "MultipartBench",
            dependencies: [
                .product(name: "HTTPCodecs", package: "swift-http-toolkit"),
                .product(name: "HTTPParser", package: "swift-http-toolkit"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "PeerNIO",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
            ],
            swiftSettings: peer),
        .executableTarget(
            name: "PeerHummingbird",
            dependencies: [
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: peer),
        .executableTarget(
            name: "PeerFlyingFox",
            dependencies: [.product(name: "FlyingFox", package: "FlyingFox")],
            swiftSettings: peer),
        .target(name: "Measuring", swiftSettings: strict),
        .executableTarget(
            name: "ClientBench",
            dependencies: [
                "Measuring",
                .product(name: "URLClient", package: "swift-http-toolkit"),
                .product(name: "HTTPParser", package: "swift-http-toolkit"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "PeerAsyncHTTPClient",
            dependencies: [
                "Measuring",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "_NIOFileSystem", package: "swift-nio"),
            ],
            swiftSettings: peer),
        .executableTarget(
            name: "PeerURLSession", dependencies: ["Measuring"], swiftSettings: peer),
    ]
)
