import HTTPCodecs
import HTTPParser
import Testing

/// Parses multipart content with given options, and records one line for each event.
struct MultipartRecording {
    var kind = MultipartKind.formData
    var boundary = "b"
    var limits = MultipartLimits.standard
    var leniency: MultipartLeniency = []

    /// The events of the pieces, with joined contents, then the error, if any.
    func events(_ pieces: [ArraySlice<UInt8>]) throws -> [String] {
        let boundary = try #require(MultipartBoundary(boundary))
        var parser = MultipartParser(kind, boundary: boundary, limits: limits, leniency: leniency)
        var log = Log()
        do throws(CodecError) {
            for piece in pieces {
                parser.append(Array(piece).span)
                while let event = try parser.next() { log.add(event) }
            }
            try parser.finish()
        } catch {
            log.lines.append("error \(error)")
            log.checkFinal(error, &parser)
        }
        return log.lines
    }

    func events(_ text: String) throws -> [String] {
        try events([Array(text.utf8)[...]])
    }

    /// The events of the bytes, which must not depend on how they are split.
    func eventsOfAllSplits(_ bytes: [UInt8]) throws -> [String] {
        let whole = try events([bytes[...]])
        #expect(try events(bytes.indices.map { bytes[$0...$0] }) == whole, "byte by byte")
        // Long inputs are cut at a few hundred places.
        for cut in stride(from: 0, through: bytes.count, by: max(1, bytes.count / 300)) {
            guard try events([bytes[..<cut], bytes[cut...]]) != whole else { continue }
            Issue.record("cut at \(cut)")
            return try events([bytes[..<cut], bytes[cut...]])
        }
        return whole
    }

    func eventsOfAllSplits(_ text: String) throws -> [String] {
        try eventsOfAllSplits(Array(text.utf8))
    }

    /// A part and its content.
    struct Part {
        var head: PartHead
        var content: [UInt8] = []
    }

    /// The parts of the content that a client sent.
    static func parts(_ type: String, _ bytes: [UInt8]) throws -> [Part] {
        let type = try #require(MediaType(type))
        var parser = try PartParser(of: type)
        var parts: [Part] = []
        var position = 0
        while true {
            switch try parser.next(bytes.span, from: &position) {
            case .part(let head): parts.append(Part(head: head))
            case .content(let range): parts[parts.count - 1].content += bytes[range]
            case .partEnd, .end: continue
            case .more:
                try parser.finish()
                return parts
            }
        }
    }

    /// The events of one part of a form, as `events` lists them.
    static func part(_ name: String, _ content: String, _ more: String = "") -> [String] {
        let head = more.isEmpty ? "part name=\(name)" : "part name=\(name) \(more)"
        return content.isEmpty ? [head, "part end"] : [head, "content \(content)", "part end"]
    }

    private struct Log {
        var lines: [String] = []
        private var content: [UInt8] = []

        mutating func add(_ event: borrowing MultipartEvent) {
            switch event {
            case .part(let head): lines.append(Self.line(head))
            case .content(let bytes):
                let isEmpty = bytes.isEmpty
                #expect(!isEmpty)
                for index in bytes.indices { content.append(bytes[index]) }
                if lines.last?.hasPrefix("content ") == true { lines.removeLast() }
                lines.append("content \(MultipartRecording.printed(content))")
            case .partEnd:
                content = []
                lines.append("part end")
            case .end: lines.append("end")
            }
        }

        func checkFinal(_ error: CodecError, _ parser: inout MultipartParser) {
            var next: CodecError?
            var last: CodecError?
            do throws(CodecError) { _ = try parser.next() } catch { next = error }
            do throws(CodecError) { try parser.finish() } catch { last = error }
            #expect(next == error && last == error)
        }

        private static func line(_ head: PartHead) -> String {
            var words = ["part"]
            if let name = head.name { words.append("name=\(name)") }
            if let fileName = head.fileName { words.append("file=\(fileName)") }
            if let type = head.mediaType { words.append("type=\(type)") }
            if head.isNested { words.append("nested") }
            return words.joined(separator: " ")
        }
    }

    /// Prints printable bytes unchanged, others escaped, and long contents by their length.
    static func printed(_ bytes: [UInt8]) -> String {
        if bytes.count > 400 { return "of \(bytes.count) bytes" }
        return bytes.reduce(into: "") { text, byte in
            switch byte {
            case 0x0D: text += "\\r"
            case 0x0A: text += "\\n"
            case 0x20...0x7E: text.append(Character(Unicode.Scalar(byte)))
            default: text += "\\x" + String(byte, radix: 16)
            }
        }
    }
}

/// Short functions that make the content of a form.
enum Sample {
    static func part(_ name: String, _ content: String, _ fields: String = "") -> String {
        "--b\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\(fields)\r\n\(content)\r\n"
    }

    static let head = "--b\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n"

    /// A part with an ordinary head and this content, then the closing delimiter.
    static func form(_ content: String) -> String {
        head + content + "\r\n--b--\r\n"
    }
}
