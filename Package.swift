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

// The server logs by swift-log. Without its trait the package is not even fetched.
let logging = Target.Dependency.product(
    name: "Logging", package: "swift-log", condition: .when(traits: ["Server"]))

let httpTypes = Target.Dependency.product(
    name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["HTTPTypes"]))
let tracing = Target.Dependency.product(
    name: "Tracing", package: "swift-distributed-tracing",
    condition: .when(traits: ["Tracing"]))

let package = Package(
    name: "swift-http-toolkit",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18)],
    products: [
        .library(name: "HTTPParser", targets: ["HTTPParser"]),
        .library(name: "HTTPCodecs", targets: ["HTTPCodecs"]),
        .library(name: "WebSocketFrames", targets: ["WebSocketFrames"]),
        .library(name: "HTTPServerToolkit", targets: ["HTTPServerToolkit"]),
        .library(name: "HTTPServerCore", targets: ["HTTPServerCore"]),
        .library(name: "HTTPServerKit", targets: ["HTTPServerKit"]),
        .library(name: "HTTPServerAuthentication", targets: ["HTTPServerAuthentication"]),
        .library(name: "HTTPServerProxies", targets: ["HTTPServerProxies"]),
        .library(
            name: "HTTPServerDiscovery", targets: ["HTTPServerDiscovery", "HTTPServerAddresses"]),
        .library(name: "HTTPServerWebSocket", targets: ["HTTPServerWebSocket"]),
        .library(name: "HTTPServerTLS", targets: ["HTTPServerTLS"]),
        .library(name: "WebDAVKit", targets: ["WebDAVKit"]),
        .library(name: "WebUploader", targets: ["WebUploader"]),
        .library(name: "ResumableUploads", targets: ["ResumableUploads"]),
        .library(name: "URLClient", targets: ["URLClient"]),
        .library(name: "URLClientFoundation", targets: ["URLClientFoundation"]),
        .library(name: "HTTPTypesInterop", targets: ["HTTPTypesInterop"]),
        .library(name: "HTTPTypesServer", targets: ["HTTPTypesServer"]),
        .library(name: "HTTPTypesClient", targets: ["HTTPTypesClient"]),
        .library(name: "HTTPToolkitTesting", targets: ["HTTPToolkitTesting"]),
        .executable(name: "httpkit", targets: ["httpkit"]),
    ],
    // A trait that is off fetches, compiles and links nothing. `make test-all` has all on. On by default
    // is what a checkout needs, and what lets code written for URLSession move over by changing the
    // session's type. A package that turns all traits off, by `traits: []`, fetches this one alone.
    traits: [
        .default(enabledTraits: ["CommandLine", "FoundationNetworking", "Server"]),
        .trait(
            name: "Server", description: "The products of the server, which log by swift-log."),
        .trait(
            name: "CommandLine", description: "httpkit, which needs swift-argument-parser.",
            enabledTraits: ["Server"]),
        .trait(
            name: "FoundationNetworking",
            description: "ClientSession takes URLRequest and gives HTTPURLResponse."),
        .trait(
            name: "HTTPTypes",
            description: "HTTPTypesInterop, HTTPTypesServer, HTTPTypesClient: swift-http-types."),
        .trait(
            name: "Tracing",
            description: "Spans of server and client, by swift-distributed-tracing."),
        .trait(name: "Metrics", description: "SwiftMetrics, a bridge to swift-metrics."),
        .trait(
            name: "ServiceLifecycle",
            description: "HTTPServer is a Service of swift-service-lifecycle."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.3.0"),
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
        // Apple's systems map ports by a service of theirs.
        .target(
            name: "CNATPMPShims",
            cSettings: [.define("HTTP_NAT_PORT_MAPPING", .when(platforms: [.linux]))],
            linkerSettings: [.linkedLibrary("natpmp", .when(platforms: [.linux]))]),
        .target(
            name: "CMiniUPnPShims",
            cSettings: [.define("HTTP_UPNP_PORT_MAPPING", .when(platforms: [.linux]))],
            linkerSettings: [.linkedLibrary("miniupnpc", .when(platforms: [.linux]))]),
        // System calls, files, locks and waiters of server, client and WebDAV; no product, and nothing
        // of it is public but what the interface of the server core names.
        .target(
            name: "ToolkitSystem", dependencies: ["HTTPParser", "CHTTPServerShims"],
            exclude: privacyManifest.exclude, resources: privacyManifest.resources,
            swiftSettings: strict),
        // Hashes and random bytes of server and client; no product, and nothing of it is public.
        .target(
            name: "HTTPCrypto",
            dependencies: [
                "HTTPParser",
                .target(name: "CLibCrypto", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: strict),
        // WebSocket after and around its handshake, as values of both sides.
        .target(
            name: "WebSocketFrames", dependencies: ["HTTPParser", "HTTPCodecs", "HTTPCrypto"],
            swiftSettings: strict),
        // A WebSocket between its connection and its tasks, for both sides; no product, and nothing of
        // it is public.
        .target(
            name: "WebSocketConnections",
            dependencies: ["HTTPParser", "HTTPCodecs", "ToolkitSystem", "WebSocketFrames"],
            swiftSettings: strict),
        // Event loops, connections, listening, messages and the life of a server: neither zlib nor
        // libcrypto.
        .target(
            name: "HTTPServerCore",
            dependencies: [
                "HTTPParser", "ToolkitSystem",
                logging,
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])),
            ],
            swiftSettings: strict),
        // Routes, files, content, middleware and logs.
        .target(
            name: "HTTPServerKit",
            dependencies: [
                "HTTPParser", "HTTPCodecs", "ToolkitSystem", "HTTPServerCore", logging, tracing,
                .product(
                    name: "CoreMetrics", package: "swift-metrics",
                    condition: .when(traits: ["Metrics"])),
            ],
            swiftSettings: strict),
        // Logins: Basic, Digest, accounts, hashes of passwords.
        .target(
            name: "HTTPServerAuthentication",
            dependencies: [
                "HTTPParser", "HTTPCodecs", "HTTPCrypto", "ToolkitSystem", "HTTPServerCore",
                "HTTPServerKit",
            ],
            swiftSettings: strict),
        // The client behind proxies: PROXY protocol and forwarded fields.
        .target(
            name: "HTTPServerProxies",
            dependencies: ["HTTPParser", "ToolkitSystem", "HTTPServerCore", "HTTPServerKit"],
            swiftSettings: strict),
        // Interfaces of the machine, and URLs at which a server can be reached; a part of the product
        // for discovery that needs no library.
        .target(
            name: "HTTPServerAddresses", dependencies: ["ToolkitSystem", "HTTPServerCore"],
            swiftSettings: strict),
        // TLS by OpenSSL, as a layer between a socket and its connection.
        .systemLibrary(
            name: "CLibSSL", pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"]), .yum(["openssl-devel"]), .brew(["openssl@3"])]),
        .target(name: "CTLSShims", dependencies: ["CLibSSL"]),
        .target(
            name: "HTTPServerTLS",
            dependencies: [
                "HTTPParser", "HTTPCrypto", "ToolkitSystem", "HTTPServerCore", "CTLSShims",
                logging,
            ],
            swiftSettings: strict),
        // WebSockets: the server's side.
        .target(
            name: "HTTPServerWebSocket",
            dependencies: [
                "HTTPParser", "ToolkitSystem", "HTTPServerCore", "HTTPServerKit",
                "WebSocketConnections", "WebSocketFrames",
                logging,
            ],
            swiftSettings: strict),
        // How others learn where a server is: Bonjour, mapped ports; and servers of apps that go to
        // the background.
        .target(
            name: "HTTPServerDiscovery",
            dependencies: [
                "HTTPParser", "ToolkitSystem", "HTTPServerCore", "HTTPServerAddresses",
                .target(name: "CDNSSD", condition: .when(platforms: [.linux])),
                .target(name: "CNATPMPShims", condition: .when(platforms: [.linux])),
                .target(name: "CMiniUPnPShims", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: strict),
        // Core, kit and what they name by one import.
        .target(
            name: "HTTPServerToolkit",
            dependencies: ["HTTPParser", "HTTPCodecs", "HTTPServerCore", "HTTPServerKit"],
            swiftSettings: strict),
        .systemLibrary(
            name: "CLibXML2", pkgConfig: "libxml-2.0",
            providers: [.apt(["libxml2-dev"]), .yum(["libxml2-devel"]), .brew(["libxml2"])]),
        .target(
            name: "WebDAVKit",
            dependencies: [
                "HTTPParser", "HTTPCodecs", "HTTPCrypto", "ToolkitSystem", "HTTPServerCore",
                "HTTPServerKit", "CLibXML2",
                logging,
            ],
            swiftSettings: strict),
        // The upload page; over the store and the locks of WebDAV, so that both can serve one tree.
        .target(
            name: "WebUploader",
            dependencies: [
                "HTTPParser", "HTTPCodecs", "HTTPCrypto", "ToolkitSystem", "HTTPServerCore",
                "HTTPServerKit", "WebDAVKit",
                logging,
            ],
            swiftSettings: strict),
        // Uploads that go on after the connection broke, to any handler.
        .target(
            name: "ResumableUploads",
            dependencies: [
                "HTTPParser", "HTTPCodecs", "HTTPCrypto", "ToolkitSystem", "HTTPServerCore",
                "HTTPServerKit",
            ],
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
            dependencies: [
                "HTTPParser", "HTTPCodecs", "HTTPCrypto", "ToolkitSystem", "CCurlShims", "CLibPSL",
                "WebSocketConnections", "WebSocketFrames", tracing,
            ],
            swiftSettings: strict),
        // The names of URLSession; empty without the trait FoundationNetworking.
        .target(
            name: "URLClientFoundation",
            dependencies: ["URLClient", "HTTPCodecs", "HTTPParser", "ToolkitSystem"],
            swiftSettings: strict),
        .executableTarget(
            name: "httpkit",
            dependencies: [
                "HTTPParser", "HTTPCodecs", "HTTPCrypto", "ToolkitSystem", "HTTPServerCore",
                "HTTPServerKit", "HTTPServerAuthentication", "HTTPServerAddresses",
                "HTTPServerProxies", "HTTPServerTLS", "HTTPServerWebSocket", "WebSocketFrames",
                "WebDAVKit",
                "WebUploader",
                "ResumableUploads", "URLClient",
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser",
                    condition: .when(traits: ["CommandLine"])),
                logging,
            ],
            swiftSettings: strict),
        // Messages as values of swift-http-types: those of parser and serialisers, of the server, and
        // of the client. Empty without the trait HTTPTypes.
        .target(
            name: "HTTPTypesInterop", dependencies: ["HTTPParser", httpTypes],
            swiftSettings: strict),
        .target(
            name: "HTTPTypesServer",
            dependencies: [
                "HTTPTypesInterop", "HTTPParser", "HTTPServerCore", "HTTPServerKit", httpTypes,
            ],
            swiftSettings: strict),
        .target(
            name: "HTTPTypesClient",
            dependencies: ["HTTPTypesInterop", "HTTPParser", "URLClient", httpTypes],
            swiftSettings: strict),
        // For tests of programs that use the toolkit.
        .target(
            name: "HTTPToolkitTesting",
            dependencies: [
                "HTTPParser", "HTTPCodecs", "ToolkitSystem", "HTTPServerCore", "HTTPServerKit",
            ],
            swiftSettings: strict),
        // What several test targets share; not a product.
        .target(
            name: "TestSupport",
            dependencies: [
                "HTTPParser", "HTTPCodecs", "HTTPServerCore", "HTTPServerKit",
                "HTTPServerAuthentication",
                "HTTPServerAddresses", "HTTPServerDiscovery", "HTTPServerTLS", "HTTPToolkitTesting",
                "ToolkitSystem", "URLClient", "CTLSTestShims",
            ],
            path: "Tests/TestSupport", swiftSettings: strict),
        .testTarget(
            name: "HTTPParserTests", dependencies: ["HTTPParser", "TestSupport"],
            exclude: ["Transcripts"], swiftSettings: strict),
        .testTarget(
            name: "HTTPCodecsTests", dependencies: ["HTTPCodecs", "HTTPParser", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "WebSocketFramesTests",
            dependencies: ["WebSocketFrames", "HTTPCodecs", "HTTPParser", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "HTTPServerCoreTests",
            dependencies: [
                "HTTPServerCore", "HTTPServerKit", "HTTPServerAuthentication",
                "HTTPServerAddresses", "HTTPServerDiscovery", "ToolkitSystem", "HTTPCodecs",
                "HTTPCrypto", "HTTPParser",
                "TestSupport",
                logging,
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
            name: "HTTPServerWebSocketTests",
            dependencies: [
                "HTTPServerWebSocket", "WebSocketFrames", "WebSocketConnections", "HTTPServerCore",
                "HTTPServerKit",
                "HTTPParser", "ToolkitSystem", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "URLClientTests",
            dependencies: [
                "URLClient", "HTTPServerTLS", "HTTPServerWebSocket", "WebSocketFrames",
                "HTTPServerCore", "HTTPServerKit", "HTTPServerAuthentication",
                "HTTPServerAddresses", "HTTPServerDiscovery", "ToolkitSystem", "HTTPCodecs",
                "HTTPCrypto",
                "HTTPParser",
                "TestSupport",
                "httpkit",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "URLClientFoundationTests",
            dependencies: [
                "URLClientFoundation", "URLClient", "HTTPCodecs", "HTTPParser", "HTTPServerCore",
                "HTTPServerKit", "HTTPServerAuthentication",
                "HTTPServerAddresses", "HTTPServerDiscovery",
                "ToolkitSystem",
                "TestSupport", "httpkit",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "WebDAVKitTests",
            dependencies: [
                "WebDAVKit", "HTTPServerCore", "HTTPServerKit", "HTTPServerAuthentication",
                "HTTPServerAddresses", "HTTPServerDiscovery", "ToolkitSystem", "HTTPCodecs",
                "HTTPParser",
                "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "WebUploaderTests",
            dependencies: [
                "WebUploader", "WebDAVKit", "HTTPServerCore", "HTTPServerKit",
                "HTTPServerAuthentication",
                "HTTPServerAddresses", "HTTPServerDiscovery", "ToolkitSystem", "HTTPCodecs",
                "HTTPParser",
                "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ResumableUploadsTests",
            dependencies: [
                "ResumableUploads", "HTTPServerCore", "HTTPServerKit", "HTTPServerAuthentication",
                "HTTPServerAddresses", "HTTPServerDiscovery", "ToolkitSystem", "HTTPCodecs",
                "HTTPParser",
                "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HTTPServerProxiesTests",
            dependencies: [
                "HTTPServerProxies", "HTTPServerCore", "HTTPServerKit", "HTTPServerAuthentication",
                "WebDAVKit", "HTTPParser", "ToolkitSystem", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HTTPToolkitTestingTests",
            dependencies: [
                "HTTPToolkitTesting", "HTTPServerCore", "HTTPServerKit", "HTTPCodecs", "HTTPParser",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HTTPTypesInteropTests",
            dependencies: [
                "HTTPTypesInterop", "HTTPTypesServer", "HTTPTypesClient", "HTTPToolkitTesting",
                "HTTPServerCore", "HTTPServerKit", "HTTPParser", "URLClient", httpTypes,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "TracingTests",
            dependencies: [
                "HTTPToolkitTesting", "HTTPServerCore", "HTTPServerKit", "HTTPParser", "URLClient",
                tracing,
                .product(
                    name: "InMemoryTracing", package: "swift-distributed-tracing",
                    condition: .when(traits: ["Tracing"])),
            ],
            swiftSettings: strict),
        // A client of TLS in memory.
        .target(
            name: "CTLSTestShims", dependencies: ["CLibSSL"], path: "Tests/CTLSTestShims"),
        .testTarget(
            name: "HTTPServerTLSTests",
            dependencies: [
                "HTTPServerTLS", "HTTPServerCore", "HTTPServerKit", "HTTPParser", "ToolkitSystem",
                "URLClient", "CTLSShims", "TestSupport",
                logging,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "httpkitTests",
            dependencies: [
                "httpkit", "HTTPCodecs", "HTTPParser", "HTTPServerCore", "HTTPServerKit",
                "HTTPServerAuthentication",
                "HTTPServerAddresses", "HTTPServerDiscovery", "ToolkitSystem",
                "TestSupport", "URLClient",
            ],
            swiftSettings: strict),
        // These talk to the built `httpkit` from outside.
        .testTarget(
            name: "ConformanceTests",
            dependencies: [
                "httpkit", "HTTPCodecs", "HTTPParser", "HTTPServerCore", "HTTPServerKit",
                "HTTPServerAuthentication",
                "HTTPServerAddresses", "HTTPServerDiscovery", "ToolkitSystem",
                "HTTPServerProxies", "HTTPServerWebSocket", "TestSupport", "URLClient",
                "WebSocketFrames",
                "WebDAVKit",
                logging,
            ],
            exclude: ["Uploads/cutting_proxy.py"], swiftSettings: strict),
    ]
)

// `make test` leaves the tests beside programs of others to `make test-peers` and `make test-all`.
if Context.environment["WITHOUT_PEERS"] != nil {
    package.targets.removeAll { $0.name == "ConformanceTests" }
}

// `make test-all` and `make test-kqueue`: beside the pollers of epoll there are those of kqueue, over a
// kqueue made of epoll.
if Context.environment["KQUEUE_STAND_IN"] != nil {
    package.targets.append(.target(name: "CKqueueStandIn", path: "Tests/CKqueueStandIn"))
    for target in package.targets where target.name == "ToolkitSystem" {
        target.dependencies.append("CKqueueStandIn")
        target.swiftSettings?.append(.define("KQUEUE_STAND_IN"))
    }
}
