// swift-tools-version: 6.2

import PackageDescription

/// One set of rules for every Swift target of the package.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    // Views into a message that the compiler keeps from outliving it.
    .enableExperimentalFeature("Lifetimes"),
]

// The privacy manifest is a resource where apps are built. Elsewhere a bundle of resources would
// only bring Foundation in.
#if canImport(Darwin)
    let privacyManifest: (resources: [Resource], exclude: [String]) =
        ([.copy("PrivacyInfo.xcprivacy")], [])
#else
    let privacyManifest: (resources: [Resource], exclude: [String]) =
        ([], ["PrivacyInfo.xcprivacy"])
#endif

let package = Package(
    name: "swift-http-toolkit",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18)],
    products: [
        .library(name: "HTTPParser", targets: ["HTTPParser"]),
        .library(name: "HTTPCodecs", targets: ["HTTPCodecs"]),
        .library(name: "HTTPServerCore", targets: ["HTTPServerCore"]),
        .library(name: "WebDAVKit", targets: ["WebDAVKit"]),
        .library(name: "WebUploader", targets: ["WebUploader"]),
        .library(name: "ResumableUploads", targets: ["ResumableUploads"]),
        .library(name: "URLClient", targets: ["URLClient"]),
        .library(name: "URLClientFoundation", targets: ["URLClientFoundation"]),
        .executable(name: "httpkit", targets: ["httpkit"]),
    ],
    // What is off is neither compiled nor linked. `make test-all` has all on. On by default is
    // only what lets code written for URLSession move over by changing the session's type.
    traits: [
        .default(enabledTraits: ["FoundationNetworking"]),
        .trait(name: "Bonjour", description: "Announces servers by DNS-SD."),
        .trait(name: "NATPortMapping", description: "Has a gateway map a port, by NAT-PMP."),
        .trait(
            name: "FoundationNetworking",
            description: "ClientSession takes URLRequest and gives HTTPURLResponse."),
        .trait(name: "Metrics", description: "SwiftMetrics, a bridge to swift-metrics."),
        .trait(
            name: "ServiceLifecycle",
            description: "HTTPServer is a Service of swift-service-lifecycle."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
    ],
    targets: [
        .target(name: "CHTTPParserShims"),
        .target(name: "HTTPParser", dependencies: ["CHTTPParserShims"], swiftSettings: strict),
        .systemLibrary(
            name: "CZlib", pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .yum(["zlib-devel"]), .brew(["zlib"])]),
        .target(name: "CHTTPCodecsShims"),
        .target(
            name: "HTTPCodecs", dependencies: ["HTTPParser", "CHTTPCodecsShims", "CZlib"],
            swiftSettings: strict),
        .target(name: "CHTTPServerShims"),
        // Apple platforms have CommonCrypto instead.
        .systemLibrary(
            name: "CLibCrypto", pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"]), .yum(["openssl-devel"])]),
        // Avahi's library; Apple's SDKs have theirs.
        .systemLibrary(name: "CDNSSD", providers: [.apt(["libavahi-compat-libdnssd-dev"])]),
        .target(
            name: "CNATPMPShims",
            cSettings: [.define("HTTP_NAT_PORT_MAPPING", .when(traits: ["NATPortMapping"]))],
            linkerSettings: [.linkedLibrary("natpmp", .when(traits: ["NATPortMapping"]))]),
        // Hashes and random bytes of server and client; no product, and nothing of it is public.
        .target(
            name: "HTTPCrypto",
            dependencies: [
                "HTTPParser",
                .target(name: "CLibCrypto", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: strict),
        .target(
            name: "HTTPServerCore",
            dependencies: [
                "HTTPParser", "HTTPCodecs", "HTTPCrypto", "CHTTPServerShims",
                .target(
                    name: "CDNSSD", condition: .when(platforms: [.linux], traits: ["Bonjour"])),
                .target(name: "CNATPMPShims", condition: .when(traits: ["NATPortMapping"])),
                .product(name: "Logging", package: "swift-log"),
                .product(
                    name: "CoreMetrics", package: "swift-metrics",
                    condition: .when(traits: ["Metrics"])),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])),
            ],
            exclude: privacyManifest.exclude, resources: privacyManifest.resources,
            swiftSettings: strict),
        .systemLibrary(
            name: "CLibXML2", pkgConfig: "libxml-2.0",
            providers: [.apt(["libxml2-dev"]), .yum(["libxml2-devel"]), .brew(["libxml2"])]),
        .target(
            name: "WebDAVKit",
            dependencies: [
                "HTTPParser", "HTTPCodecs", "HTTPCrypto", "HTTPServerCore", "CLibXML2",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        // The upload page; over the store and the locks of WebDAV, so that both can serve one tree.
        .target(
            name: "WebUploader",
            dependencies: [
                "HTTPParser", "HTTPCodecs", "HTTPCrypto", "HTTPServerCore", "WebDAVKit",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        // Uploads that go on after the connection broke, to any handler.
        .target(
            name: "ResumableUploads",
            dependencies: ["HTTPParser", "HTTPCodecs", "HTTPCrypto", "HTTPServerCore"],
            swiftSettings: strict),
        .systemLibrary(
            name: "CLibCurl", pkgConfig: "libcurl",
            providers: [
                .apt(["libcurl4-openssl-dev"]), .yum(["libcurl-devel"]), .brew(["curl"]),
            ]),
        .target(
            name: "CCurlShims", dependencies: ["CLibCurl"],
            linkerSettings: [.linkedLibrary("ssl", .when(platforms: [.linux]))]),
        // The list of public suffixes, for cookies.
        .systemLibrary(
            name: "CLibPSL", pkgConfig: "libpsl",
            providers: [.apt(["libpsl-dev"]), .yum(["libpsl-devel"]), .brew(["libpsl"])]),
        .target(
            name: "URLClient",
            dependencies: ["HTTPParser", "HTTPCodecs", "HTTPCrypto", "CCurlShims", "CLibPSL"],
            swiftSettings: strict),
        // The names of URLSession; empty without the trait FoundationNetworking.
        .target(
            name: "URLClientFoundation", dependencies: ["URLClient", "HTTPCodecs", "HTTPParser"],
            swiftSettings: strict),
        .executableTarget(
            name: "httpkit",
            dependencies: [
                "HTTPParser", "HTTPCodecs", "HTTPCrypto", "HTTPServerCore", "WebDAVKit",
                "WebUploader", "ResumableUploads", "URLClient",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        // What several test targets share; not a product.
        .target(
            name: "TestSupport",
            dependencies: ["HTTPParser", "HTTPCodecs", "HTTPServerCore", "URLClient"],
            path: "Tests/TestSupport", swiftSettings: strict),
        .testTarget(
            name: "HTTPParserTests", dependencies: ["HTTPParser", "TestSupport"],
            exclude: ["Transcripts"], swiftSettings: strict),
        .testTarget(
            name: "HTTPCodecsTests", dependencies: ["HTTPCodecs", "HTTPParser", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "HTTPServerCoreTests",
            dependencies: [
                "HTTPServerCore", "HTTPCodecs", "HTTPCrypto", "HTTPParser", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(
                    name: "MetricsTestKit", package: "swift-metrics",
                    condition: .when(traits: ["Metrics"])),
                .product(
                    name: "CoreMetrics", package: "swift-metrics",
                    condition: .when(traits: ["Metrics"])),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "URLClientTests",
            dependencies: [
                "URLClient", "HTTPServerCore", "HTTPCodecs", "HTTPCrypto", "HTTPParser",
                "TestSupport",
                "httpkit",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "URLClientFoundationTests",
            dependencies: [
                "URLClientFoundation", "URLClient", "HTTPCodecs", "HTTPParser", "HTTPServerCore",
                "TestSupport", "httpkit",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "WebDAVKitTests",
            dependencies: [
                "WebDAVKit", "HTTPServerCore", "HTTPCodecs", "HTTPParser", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "WebUploaderTests",
            dependencies: [
                "WebUploader", "WebDAVKit", "HTTPServerCore", "HTTPCodecs", "HTTPParser",
                "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ResumableUploadsTests",
            dependencies: [
                "ResumableUploads", "HTTPServerCore", "HTTPCodecs", "HTTPParser", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "httpkitTests",
            dependencies: [
                "httpkit", "HTTPCodecs", "HTTPParser", "HTTPServerCore", "TestSupport", "URLClient",
            ],
            swiftSettings: strict),
        // These talk to the built `httpkit` from outside.
        .testTarget(
            name: "ConformanceTests",
            dependencies: [
                "httpkit", "HTTPCodecs", "HTTPParser", "HTTPServerCore", "TestSupport", "URLClient",
                "WebDAVKit",
            ],
            exclude: ["Uploads/cutting_proxy.py"], swiftSettings: strict),
    ]
)
