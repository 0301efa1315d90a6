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

let parser = Target.Dependency.product(name: "HTTPParser", package: "swift-http-toolkit")
let codecs = Target.Dependency.product(name: "HTTPCodecs", package: "swift-http-toolkit")

let webSocket = Target.Dependency.product(
    name: "WebSocketFrames", package: "swift-http-toolkit")

let logins = Target.Dependency.product(
    name: "HTTPServerAuthentication", package: "swift-http-toolkit")

let core = Target.Dependency.product(name: "HTTPServerCore", package: "swift-http-toolkit")
let proxies = Target.Dependency.product(name: "HTTPServerProxies", package: "swift-http-toolkit")

/// A fuzz target is one source file of the same name: with `--sanitize=fuzzer` it becomes a fuzzer,
/// without it an empty program.
func fuzzTarget(_ name: String, _ others: Target.Dependency...) -> Target {
    .executableTarget(
        name: name, dependencies: ["FuzzSupport", parser, codecs] + others, swiftSettings: strict)
}

let package = Package(
    name: "Fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-http-toolkit", path: "..")],
    targets: [
        // The same recorder and the same oracle as in the tests: `Scripts/fuzz` makes a link to
        // Tests/TestSupport/Wire.
        .target(name: "FuzzSupport", dependencies: [parser], swiftSettings: strict),
        fuzzTarget("FuzzRequestParser"),
        fuzzTarget("FuzzResponseParser"),
        fuzzTarget("FuzzFieldValues"),
        fuzzTarget("FuzzChunked"),
        fuzzTarget("FuzzGzip"),
        fuzzTarget("FuzzMultipart"),
        fuzzTarget("FuzzURLEncoded"),
        fuzzTarget("FuzzContentDisposition"),
        fuzzTarget("FuzzAuthorization", logins),
        fuzzTarget("FuzzProxyHeader", core, proxies),
        fuzzTarget("FuzzWebSocket", webSocket),
    ]
)
