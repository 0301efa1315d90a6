#if os(Linux)
    import TestSupport
    import Testing

    /// A sanitizer brings libraries of its own.
    @Suite("What programs are linked with", .fewAtOnce, .enabled(if: !Sanitizers.isOn))
    struct LinkageTests {
        @Test("A server alone brings neither Foundation nor libcurl along")
        func server() async throws {
            let server = try await ExampleProcess.binary("HelloServer")
            let result = try await Program.run(try Program.find("ldd"), [server])
            #expect(result.status == 0)
            let names = result.text.split(separator: "\n").compactMap { line in
                line.split(whereSeparator: \.isWhitespace).first.map(String.init)
            }
            #expect(names.contains { $0.hasPrefix("libz.") })
            for name in names {
                let base = name.split(separator: "/").last.map(String.init) ?? name
                let isKnown = Self.known.contains { base.hasPrefix($0) }
                #expect(isKnown, "\(name)")
            }
        }

        @Test("httpkit asks for no library that nobody named")
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

        /// The C library, the Swift runtime, and what Docs/Platforms.md names.
        private static let known = [
            "linux-vdso", "ld-linux", "libc.", "libm.", "libgcc_s.", "libstdc++.", "libz.",
            "libswift", "libdispatch.", "libBlocksRuntime.", "lib_FoundationICU.",
            "libFoundationEssentials.", "libcrypto.",
        ]
        /// What URLClient adds.
        private static let ofClients = [
            "libcurl.", "libpsl.", "libssl.", "libFoundation.", "libFoundationNetworking.",
            "libFoundationInternationalization.",
        ]
        /// And what WebDAV and the traits do.
        private static var ofAll: [String] {
            var names = known + ofClients + ["libxml2."]
            #if Bonjour
                names.append("libdns_sd.")
            #endif
            #if NATPortMapping
                names.append("libnatpmp.")
            #endif
            return names
        }
    }
#endif
