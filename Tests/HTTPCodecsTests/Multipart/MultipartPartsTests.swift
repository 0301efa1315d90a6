import HTTPCodecs
import HTTPParser
import Testing

@Suite("Multipart content as a stream of parts")
struct MultipartPartsTests {
    /// A stream of pieces that counts how many of them were requested.
    private final class Pieces: AsyncSequence, @unchecked Sendable {
        typealias Element = [UInt8]
        struct Broken: Error {}
        private(set) var asked = 0
        private let pieces: [[UInt8]]
        private let fails: Bool

        init(_ bytes: [UInt8], size: Int, fails: Bool = false) {
            pieces = stride(from: 0, to: bytes.count, by: size).map {
                Array(bytes[$0..<Swift.min($0 + size, bytes.count)])
            }
            self.fails = fails
        }

        struct AsyncIterator: AsyncIteratorProtocol {
            let pieces: Pieces
            mutating func next() async throws -> [UInt8]? { try pieces.next() }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces: self) }

        private func next() throws -> [UInt8]? {
            defer { asked += 1 }
            guard asked == pieces.count else { return pieces[asked] }
            if fails { throw Broken() }
            return nil
        }
    }

    private static let form = Array(
        (Sample.part("a", "1\r\n2") + Sample.part("b", "")
            + Sample.part("f", String(repeating: "x", count: 500), "X: y\r\n") + "--b--\r\n").utf8)

    private func parts(
        _ bytes: [UInt8] = form, size: Int = 7, limits: MultipartLimits = .standard,
        fails: Bool = false
    ) throws -> (parts: MultipartParts, pieces: Pieces) {
        let pieces = Pieces(bytes, size: size, fails: fails)
        let type = try #require(MediaType("multipart/form-data; boundary=b"))
        return (try MultipartParts(of: type, in: pieces, limits: limits), pieces)
    }

    @Test("Parts are read in order with their content", arguments: [1, 2, 3, 7, 64, 1_000])
    func order(size: Int) async throws {
        let (parts, pieces) = try parts(size: size)
        var seen: [String] = []
        for try await part in parts {
            seen.append("\(part.name ?? "-")=\(try await part.text().prefix(4))")
        }
        #expect(seen == ["a=1\r\n2", "b=", "f=xxxx"])
        #expect(pieces.asked == (Self.form.count + size - 1) / size + 1)
    }

    @Test("Content that is not read is skipped", arguments: [1, 7, 1_000])
    func skipping(size: Int) async throws {
        let (parts, _) = try parts(size: size)
        var names: [String?] = []
        for try await part in parts {
            names.append(part.name)
            if part.name == "f" {
                var iterator = part.content.makeAsyncIterator()
                #expect(try await iterator.next()?.isEmpty == false)
            }
        }
        #expect(names == ["a", "b", "f"])
    }

    @Test("Pieces are read only when they are needed")
    func backPressure() async throws {
        let (parts, pieces) = try parts(size: 10)
        var iterator = parts.makeAsyncIterator()
        #expect(pieces.asked == 0)
        let first = try #require(try await iterator.next())
        // It has read the head, up to the piece in which the head ends.
        #expect(pieces.asked == 5)
        #expect(first.head.fields.count == 1)
        _ = try await iterator.next()
        let third = try #require(try await iterator.next())
        let before = pieces.asked
        var content = third.content.makeAsyncIterator()
        for taken in 1...10 {
            _ = try await content.next()
            #expect(pieces.asked <= before + taken)
        }
    }

    @Test("Pieces that contain only content are passed on unchanged")
    func pieces() async throws {
        let (parts, _) = try parts(size: 50)
        for try await part in parts where part.name == "f" {
            var sizes: [Int] = []
            for try await piece in part.content { sizes.append(piece.count) }
            #expect(sizes.reduce(0, +) == 500)
            #expect(sizes.dropFirst().dropLast().allSatisfy { $0 == 50 })
        }
    }

    @Test("Reading a part twice, or after the next part has begun, throws an error")
    func misuse() async throws {
        let (parts, _) = try parts()
        var iterator = parts.makeAsyncIterator()
        let first = try #require(try await iterator.next())
        #expect(try await first.text() == "1\r\n2")
        await #expect(throws: MultipartUseError.alreadyRead) { try await first.collect() }
        let second = try #require(try await iterator.next())
        await #expect(throws: MultipartUseError.partIsOver) { try await first.collect() }
        #expect(try await second.collect() == [])
        #expect(try await iterator.next()?.name == "f")
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
        await #expect(throws: MultipartUseError.partIsOver) { try await second.collect() }
    }

    @Test("An iterator stays at its end; a second one continues with the next part")
    func iterators() async throws {
        let (parts, _) = try parts()
        for try await part in parts {
            var content = part.content.makeAsyncIterator()
            while try await content.next() != nil {}
            #expect(try await content.next() == nil)
            break
        }
        var names: [String?] = []
        for try await part in parts { names.append(part.name) }
        #expect(names == ["b", "f"])
    }

    private final class Second: @unchecked Sendable {
        var parts: MultipartParts?
        var pieces = [MultipartPartsTests.form]
        var error: MultipartUseError?

        func read() async {
            do {
                for try await _ in try #require(parts) {}
            } catch { self.error = error as? MultipartUseError }
        }
    }

    @Test("A second reader at the same time gets an error, and the first reader continues")
    func concurrentReading() async throws {
        let second = Second()
        // The second reader starts while the first waits for bytes.
        let bytes = AsyncStream<[UInt8]> {
            await second.read()
            return second.pieces.popLast()
        }
        let boundary = try #require(MultipartBoundary("b"))
        let parts = MultipartParts(.formData, boundary: boundary, in: bytes)
        second.parts = parts
        var names: [String?] = []
        for try await part in parts { names.append(part.name) }
        #expect(names == ["a", "b", "f"])
        #expect(second.error == .concurrentReading)
        second.parts = nil
    }

    @Test("Errors of the content are thrown, and thrown again")
    func errors() async throws {
        let (parts, _) = try parts(Array(Self.form.dropLast(60)))
        let error = CodecError(.truncated, at: Int64(Self.form.count - 60))
        for _ in 0..<2 {
            await #expect(throws: error) { for try await _ in parts {} }
        }
        var few = MultipartLimits()
        few.parts = 2
        let (others, _) = try self.parts(limits: few)
        var iterator = others.makeAsyncIterator()
        let first = try #require(try await iterator.next())
        #expect(try await iterator.next() != nil)
        let tooMany = CodecError(.tooManyParts, at: 109)
        do {
            _ = try await iterator.next()
            Issue.record("a third part")
        } catch { #expect((error as? CodecError)?.kind == tooMany.kind) }
        await #expect(throws: CodecError.self) { try await first.collect() }
    }

    @Test("An error of the stream is thrown, and thrown again")
    func failingStream() async throws {
        let (parts, _) = try parts(fails: true)
        await #expect(throws: Pieces.Broken.self) { for try await _ in parts {} }
        await #expect(throws: Pieces.Broken.self) { for try await _ in parts {} }
    }

    @Test("Collecting more content than its limit throws an error", arguments: [0, 3, 4, 5])
    func collecting(limit: Int) async throws {
        let (parts, _) = try parts()
        var iterator = parts.makeAsyncIterator()
        let part = try #require(try await iterator.next())
        if limit >= 4 {
            #expect(try await part.collect(upTo: limit) == Array("1\r\n2".utf8))
        } else {
            await #expect(throws: CodecError(.partTooLong, at: 49 + Int64(limit))) {
                try await part.collect(upTo: limit)
            }
        }
        #expect(try await iterator.next()?.name == "b")
    }

    @Test(
        "Only UTF-8 and US-ASCII are read as text",
        arguments: [
            ("text/plain; charset=utf-8", [0xC3, 0xA9], nil),
            ("text/plain;charset=US-ASCII", [0x61], nil),
            ("text/plain; charset=iso-8859-1", [0x61], CodecError.Kind.unsupportedCharset),
            ("a/b", [0x61, 0xE9], .invalidText),
            ("a/b", [0x61, 0xC3], .invalidText),
        ])
    func text(type: String, content: [UInt8], kind: CodecError.Kind?) async throws {
        let head = "--b\r\nContent-Disposition: form-data; name=a\r\nContent-Type: \(type)\r\n\r\n"
        let (parts, _) = try parts(Array(head.utf8) + content + Array("\r\n--b--".utf8))
        var iterator = parts.makeAsyncIterator()
        let part = try #require(try await iterator.next())
        guard let kind else {
            #expect(try await part.text() == String(decoding: content, as: UTF8.self))
            return
        }
        let offset = head.utf8.count + (kind == .invalidText ? 1 : 0)
        do {
            _ = try await part.text()
            Issue.record("no error")
        } catch let error as CodecError {
            #expect(error.kind == kind && error.offset == Int64(offset))
        }
    }
}
