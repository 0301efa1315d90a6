import HTTPCodecs
import HTTPParser
import Testing

@Suite("RFC 2046, 5.1.1: The search for delimiters")
struct MultipartSearchTests {
    @Test("The pair of bytes is found at every place", arguments: [1, 2, 3, 16])
    func pairs(distance: Int) {
        let search = BytePairSearch(0x0D, 0x2D, distance: distance)
        for count in [0, 1, 15, 16, 17, 63, 64, 79, 80, 81, 160] {
            let empty = [UInt8](repeating: 0x2D, count: count)
            #expect(Self.place(search, empty, 0) == count)
            for place in empty.indices {
                var bytes = [UInt8](repeating: 0x0A, count: count)
                bytes[place] = 0x0D
                let hasSecond = place + distance < count
                if hasSecond { bytes[place + distance] = 0x2D }
                #expect(Self.place(search, bytes, 0) == place)
                #expect(Self.place(search, bytes, place) == place)
                #expect(Self.place(search, bytes, place + 1) == count)
                // Without the second byte, the place counts only if that byte may still follow.
                if hasSecond { bytes[place + distance] = 0x2E }
                #expect(Self.place(search, bytes, 0) == (hasSecond ? count : place))
            }
        }
    }

    private static func place(_ search: BytePairSearch, _ bytes: [UInt8], _ start: Int) -> Int {
        unsafe bytes.withUnsafeBytes { unsafe search.firstPlace(in: $0, from: start) }
    }

    /// Content of few letters, so that much of it is similar to a delimiter.
    private static func content(
        _ count: Int, using random: inout some RandomNumberGenerator
    ) -> String {
        let tiles = ["\r", "\n", "-", "b", "x", "\r\n", "--", "\r\n--", "\r\n--a", "\n--b"]
        var text = ""
        for _ in 0..<count { text += tiles[Int.random(in: 0..<tiles.count, using: &random)] }
        return text
    }

    @Test("Parts are the same as by splitting the text")
    func comparison() throws {
        var random = SystemRandomNumberGenerator()
        for round in 0..<400 {
            let contents = (0..<3).map { _ in
                "." + Self.content(round % 40, using: &random).replacing("\r\n--b", with: "\r\n--")
            }
            let text =
                contents.map { "--b\r\n\r\n\($0)\r\n" }.joined() + "--b--\r\n"
            // The replacement may have created another delimiter.
            guard text.components(of: "\r\n--b").count == 4 else { continue }
            var expected: [String] = []
            for content in contents {
                let printed = MultipartRecording.printed(Array(content.utf8))
                expected += ["part", "content \(printed)", "part end"]
            }
            let recording = MultipartRecording(kind: .mixed)
            #expect(try recording.events(text) == expected + ["end"])
            let bytes = Array(text.utf8)
            let cut = Int.random(in: 0...bytes.count, using: &random)
            #expect(
                try recording.events([bytes[..<cut], bytes[cut...]]) == expected + ["end"])
        }
    }

    @Test(
        "Content of repeated beginnings of delimiters is read in few calls",
        arguments: [
            "\r\n--boundar", "\r", "\r\n", "\r\n--", "\r\n--boundary-", "-", "\n--boundary",
        ])
    func floods(tile: String) throws {
        let boundary = try #require(MultipartBoundary("boundary"))
        let tiles = Array(String(repeating: tile, count: (1 << 20) / tile.utf8.count).utf8)
        var form = MultipartSerializer<Never>(.mixed, boundary: boundary)
        try form.append([:], bytes: [0x2E] + tiles)
        // Pieces of 1,001 bytes end at every place of the tile.
        for size in [form.bytes.count, 1_001] {
            var parser = PartParser(.mixed, boundary: boundary)
            var count = 0
            var calls = 0
            var rest: [UInt8] = []
            for start in stride(from: 0, to: form.bytes.count, by: size) {
                rest += form.bytes[start..<min(start + size, form.bytes.count)]
                var position = 0
                reading: while true {
                    calls += 1
                    switch try parser.next(rest.span, from: &position) {
                    case .content(let range): count += range.count
                    case .more: break reading
                    default: continue
                    }
                }
                rest.removeSubrange(..<position)
                #expect(rest.count <= 76, "bytes held back")
            }
            try parser.finish()
            #expect(count == tiles.count + 1)
            #expect(calls < 4 * (1 + form.bytes.count / size) + 8)
        }
    }
}

extension String {
    fileprivate func components(of separator: String) -> [Substring] {
        split(separator: separator, omittingEmptySubsequences: false)
    }
}
