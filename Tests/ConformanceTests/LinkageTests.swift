#if os(Linux)
    import TestSupport
    import Testing

    @Suite("What the program is linked with", .fewAtOnce)
    struct LinkageTests {
        @Test("Neither Foundation nor a library that nobody named")
        func libraries() async throws {
            let result = try await Program.run(try Program.find("ldd"), [Program.httpkit])
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

        /// The C library, the Swift runtime, and what Docs/Platforms.md names.
        private static let known = [
            "linux-vdso", "ld-linux", "libc.", "libm.", "libgcc_s.", "libstdc++.", "libz.",
            "libswift", "libdispatch.", "libBlocksRuntime.", "lib_FoundationICU.",
            "libFoundationEssentials.", "libcrypto.",
        ]
    }
#endif
