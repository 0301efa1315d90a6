import HTTPCodecs
import HTTPParser
import Testing

@Suite("Limits of multipart content")
struct MultipartLimitTests {
    /// The last event under each of three limits: below, at and above the size of the input.
    private func outcomes(
        _ limit: WritableKeyPath<MultipartLimits, Int>, of size: Int, _ text: String,
        kind: MultipartKind = .formData
    ) throws -> [String?] {
        try [size - 1, size, size + 1].map { value in
            var recording = MultipartRecording(kind: kind)
            recording.limits[keyPath: limit] = value
            return try recording.eventsOfAllSplits(text).last
        }
    }

    private func outcomes(
        _ limit: WritableKeyPath<MultipartLimits, Int64>, of size: Int64, _ text: String,
        kind: MultipartKind = .formData
    ) throws -> [String?] {
        try [size - 1, size, size + 1].map { value in
            var recording = MultipartRecording(kind: kind)
            recording.limits[keyPath: limit] = value
            return try recording.eventsOfAllSplits(text).last
        }
    }

    private func expect(_ outcomes: [String?], _ error: String) {
        #expect(outcomes == ["error \(error)", "end", "end"])
    }

    @Test("More parts than the limit are refused")
    func parts() throws {
        let text = String(repeating: Sample.part("a", "1"), count: 3) + "--b--\r\n"
        // Each part has 52 bytes, of which the line of its delimiter has 5.
        expect(try outcomes(\.parts, of: 3, text), "too many parts at byte 109")
        var recording = MultipartRecording()
        recording.limits.parts = 0
        #expect(try recording.eventsOfAllSplits("--b--") == ["end"])
        #expect(try recording.events(text) == ["error too many parts at byte 5"])
    }

    @Test("The standard limit accepts 1,000 parts and refuses 1,001")
    func partsByDefault() throws {
        let thousand = String(repeating: Sample.part("a", ""), count: 1_000)
        #expect(try MultipartRecording().events(thousand + "--b--").count == 2_001)
        let last = try MultipartRecording().events(thousand + Sample.part("a", "") + "--b--").last
        #expect(last == "error too many parts at byte \(thousand.utf8.count + 5)")
    }

    @Test("A head of a part above the limit is refused")
    func partHead() throws {
        let text = Sample.part("a", "1", "X: y\r\n") + "--b--\r\n"
        // The field lines with their line ends.
        expect(
            try outcomes(\.partHeadBytes, of: 48, text),
            "part head too long at byte 50: trailers too long")
    }

    @Test("A head without an end is refused at the limit, with any content")
    func endlessHead() throws {
        for tile in ["a", "X: y\r\n", "X: " + String(repeating: "y", count: 997)] {
            let head = String(repeating: tile, count: 9_000 / tile.utf8.count + 1)
            let text = Array(("--b\r\n" + head).utf8)
            var recording = MultipartRecording(kind: .mixed)
            recording.limits.fieldCount = 10_000
            let events = try recording.events([text[...]])
            #expect(events.first?.hasPrefix("error part head too long at byte 8") == true)
            #expect(try recording.events(text.map { [$0] }) == events)
        }
    }

    @Test("More fields of a part than the limit are refused")
    func fieldCount() throws {
        let text = Sample.part("a", "1", "X: y\r\nX: z\r\n") + "--b--\r\n"
        expect(
            try outcomes(\.fieldCount, of: 3, text),
            "part head too long at byte 53: too many fields")
        let fields = String(repeating: "X: y\r\n", count: 32)
        let events = try MultipartRecording().events(Sample.part("a", "1", fields))
        #expect(events == ["error part head too long at byte 233: too many fields"])
    }

    @Test(
        "Names and file names above the limit are refused",
        arguments: ["name=\"%\"", "name=a; filename=\"%\""])
    func names(parameters: String) throws {
        let disposition = parameters.replacing("%", with: "é%22")
        let text =
            "--b\r\nContent-Disposition: form-data; \(disposition)\r\n\r\n1\r\n--b--\r\n"
        expect(try outcomes(\.nameBytes, of: 3, text), "part head too long at byte 26: name")
    }

    @Test("Names of 10,000 and of 2,000 bytes are refused by the standard limits")
    func longNames() throws {
        for (length, place) in [(10_000, 8_195), (2_000, 26)] {
            let text = Sample.part(String(repeating: "n", count: length), "1")
            let error = try MultipartRecording().events(text).first
            #expect(error?.hasPrefix("error part head too long at byte \(place)") == true)
        }
    }

    @Test("Content of a field above the limit is refused")
    func fieldContent() throws {
        let text = Sample.form("12\r\n5")
        expect(try outcomes(\.fieldBytes, of: 5, text), "part too long at byte 53")
        // The limit does not apply to files, or to parts of multipart/mixed.
        var recording = MultipartRecording()
        recording.limits.fieldBytes = 1
        let file = text.replacing("name=\"n\"", with: "name=\"n\"; filename=\"\"")
        #expect(try recording.eventsOfAllSplits(file).last == "end")
        recording.kind = .mixed
        #expect(try recording.eventsOfAllSplits(text).last == "end")
    }

    @Test("Content of a file above the limit is refused")
    func fileContent() throws {
        let text = Sample.form("12\r\n5").replacing("\"n\"", with: "\"n\"; filename=\"\"")
        expect(try outcomes(\.fileBytes, of: 5, text), "part too long at byte 66")
        let mixed = "--b\r\n\r\n12345\r\n--b--"
        expect(try outcomes(\.fileBytes, of: 5, mixed, kind: .mixed), "part too long at byte 11")
    }

    @Test("Input above the total limit is refused")
    func total() throws {
        let text = Sample.form("1234567") + "epilogue"
        let length = Int64(text.utf8.count)
        expect(try outcomes(\.totalBytes, of: length, text), "input too long at byte \(length - 1)")
        for limit in 0..<length {
            var recording = MultipartRecording()
            recording.limits.totalBytes = limit
            let events = try recording.eventsOfAllSplits(text)
            #expect(events.last == "error input too long at byte \(limit)")
        }
    }

    @Test("Preamble, epilogue and padding above the limit are each refused")
    func filler() throws {
        let rest = "--b\r\n" + Sample.head.dropFirst(4) + "1\r\n--b--"
        expect(
            try outcomes(\.fillerBytes, of: 8, "12345678\r\n--b--"),
            "filler too long at byte 7")
        expect(
            try outcomes(\.fillerBytes, of: 8, "12345678" + "\r\n" + rest),
            "filler too long at byte 7")
        expect(
            try outcomes(\.fillerBytes, of: 6, rest + "\r\n1234"),
            "filler too long at byte \(rest.utf8.count + 5)")
        expect(
            try outcomes(\.fillerBytes, of: 3, rest.replacing("--b\r\n", with: "--b   \r\n")),
            "filler too long at byte 5")
        expect(
            try outcomes(\.fillerBytes, of: 3, rest + "   "),
            "filler too long at byte \(rest.utf8.count + 2)")
    }

    @Test("Nesting deeper than the limit is refused")
    func depth() async throws {
        func nested(_ depth: Int, _ inside: String) -> String {
            guard depth > 0 else { return inside }
            let boundary = String(repeating: "b", count: depth)
            let next = nested(depth - 1, inside)
            let type = "multipart/mixed; boundary=\(String(repeating: "b", count: depth - 1))"
            return "--\(boundary)\r\nContent-Disposition: form-data; name=n\r\n"
                + (depth > 1 ? "Content-Type: \(type)\r\n" : "")
                + "\r\n\(next)\r\n--\(boundary)--\r\n"
        }
        for depth in 1...5 {
            var recording = MultipartRecording(boundary: String(repeating: "b", count: depth))
            let text = nested(depth, "1")
            let isNested = depth > 1 ? " nested" : ""
            let whole = ["part name=n\(isNested)", "content 1", "part end", "end"]
            for limit in 1...6 {
                recording.limits.depth = limit
                let events = try recording.eventsOfAllSplits(text)
                // Gives other tests time to handle responses.
                await Task.yield()
                if limit >= depth {
                    #expect(events == whole)
                } else {
                    #expect(events.first?.hasPrefix("error nested too deeply at byte") == true)
                }
            }
            recording.limits = .standard
            #expect((try recording.events(text) == whole) == (depth <= 2))
        }
    }

    @Test(
        "Limits of 0 and below do not trap, and a total of 0 refuses content", arguments: [0, -1])
    func extremes(limit: Int) throws {
        var limits = MultipartLimits()
        limits.parts = limit
        limits.partHeadBytes = limit
        limits.fieldCount = limit
        limits.nameBytes = limit
        limits.fieldBytes = Int64(limit)
        limits.fileBytes = Int64(limit)
        limits.fillerBytes = Int64(limit)
        limits.depth = limit
        for path in [\MultipartLimits.parts, \.partHeadBytes, \.fieldCount, \.nameBytes, \.depth] {
            var recording = MultipartRecording(limits: limits)
            #expect(
                try recording.eventsOfAllSplits(Sample.form("1")).last?.hasPrefix("error") == true)
            recording.limits[keyPath: path] = .max
            #expect(
                try recording.eventsOfAllSplits(Sample.form("1")).last?.hasPrefix("error") == true)
        }
        limits.totalBytes = Int64(limit)
        let events = try MultipartRecording(limits: limits).eventsOfAllSplits(Sample.form("1"))
        #expect(events.last?.hasPrefix("error input too long") == true)
    }
}
