import HTTPCodecs
import Testing

@Suite("Table rows of media types by extension")
struct MediaTypeRowsTests {
    private static let entries = MediaTypeRows.texts.map(\.description).joined(separator: "\n")
        .split { $0 == " " || $0 == "\n" }

    @Test("More than 1,700 extensions are sorted by their bytes, each once")
    func order() {
        let names = Self.entries.map { Array($0.utf8.prefix { $0 != UInt8(ascii: ":") }) }
        #expect(names.count > 1_700)
        for (name, next) in zip(names, names.dropFirst()) {
            #expect(
                name.lexicographicallyPrecedes(next), "\(String(decoding: next, as: UTF8.self))")
        }
    }

    @Test("Each entry is found in the standard table, and its letter stands for a known type")
    func entriesAreFound() throws {
        for entry in Self.entries {
            let pieces = entry.split(separator: ":", omittingEmptySubsequences: false)
            try #require(pieces.count == 2, "\(entry)")
            #expect(pieces[0].utf8.count <= MediaTypeTable.extensionByteLimit)
            #expect(pieces[0] == pieces[0].lowercased())
            let letter = try #require(pieces[1].utf8.first)
            #expect("acefimptuv".utf8.contains(letter), "\(entry)")
            let type = MediaTypeRows.type(of: letter).description + pieces[1].dropFirst(2)
            let found = try #require(MediaTypeTable.standard[String(pieces[0])], "\(entry)")
            #expect(found.essence == type, "\(entry)")
            #expect((found["charset"] == "utf-8") == (found.type == "text"), "\(entry)")
        }
    }
}
