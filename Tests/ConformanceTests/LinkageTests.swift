#if os(Linux)
    import TestSupport
    import Testing

    /// A sanitizer adds libraries.
    @Suite("Libraries that programs are linked with", .fewAtOnce, .enabled(if: !Sanitizers.isOn))
    struct LinkageTests {
        @Test("A server with only the core is linked with neither zlib nor libcrypto")
        func core() async throws {
            let names = try await Self.libraries(of: "CoreAlone")
            #expect(!names.isEmpty)
            for name in names {
                #expect(Self.ofCore.contains { name.hasPrefix($0) }, "\(name)")
            }
        }

        @Test("A server with the kit is linked with neither Foundation, libcrypto nor libcurl")
        func server() async throws {
            let names = try await Self.libraries(of: "HelloServer")
            #expect(names.contains { $0.hasPrefix("libz.") })
            for name in names {
                #expect(Self.ofKit.contains { name.hasPrefix($0) }, "\(name)")
            }
        }

        /// The libraries that an example loads, including their dependencies.
        private static func libraries(of example: String) async throws -> [String] {
            let binary = try await ExampleProcess.binary(example)
            let result = try await Program.run(try Program.find("ldd"), [binary])
            #expect(result.status == 0)
            return result.text.split(separator: "\n").compactMap { line in
                guard let name = line.split(whereSeparator: \.isWhitespace).first else {
                    return nil
                }
                return name.split(separator: "/").last.map(String.init)
            }
        }

        @Test("httpkit needs only the expected libraries")
        func libraries() async throws {
            let result = try await Program.run(
                try Program.find("readelf"), ["--dynamic", "--wide", Program.httpkit])
            #expect(result.status == 0)
            let names = result.text.split(separator: "\n").compactMap { line -> Substring? in
                guard line.contains("(NEEDED)"), let start = line.firstIndex(of: "[") else {
                    return nil
                }
                return line[line.index(after: start)...].prefix { $0 != "]" }
            }
            #expect(names.contains { $0.hasPrefix("libz.") })
            for name in names {
                let isKnown = Self.ofAll.contains { name.hasPrefix($0) }
                #expect(isKnown, "\(name)")
            }
        }

        /// The C library and the Swift runtime.
        private static let ofCore = [
            "linux-vdso", "ld-linux", "libc.", "libm.", "libgcc_s.", "libstdc++.", "libswift",
            "libdispatch.", "libBlocksRuntime.",
        ]
        /// The libraries that the kit adds.
        private static let ofKit =
            ofCore + ["libz.", "lib_FoundationICU.", "libFoundationEssentials."]
        /// The libraries that clients, logins and WebDAV add.
        private static let ofAll =
            ofKit + [
                "libcrypto.", "libcurl.", "libpsl.", "libssl.", "libFoundation.",
                "libFoundationNetworking.", "libFoundationInternationalization.", "libxml2.",
            ]
    }
#endif
