internal import HTTPParser

/// Content that is a stream of JSON values, one per line (`application/x-ndjson`).
///
/// ```swift
/// let lines = JSONLines()
/// for try await note in lines.decode(Note.self, from: request.body) { print(note.text) }
///
/// var output: [UInt8] = []
/// try lines.encode(Note(text: "hello"), into: &output)    // {"text":"hello"}\n
/// ```
public struct JSONLines: Hashable, Sendable {
    /// The media type of the content, `application/x-ndjson`.
    public static let mediaType = "application/x-ndjson"

    /// Reads and writes each value; its `byteLimit` is the most bytes of a line.
    public var values = JSONBody()

    /// The defaults: lines of 2 MiB, 128 deep; any number of lines.
    public init() {}

    /// Checks that content of this type is newline-delimited JSON.
    ///
    /// Accepts `application/x-ndjson`, `application/ndjson`, `application/jsonl` and
    /// `application/x-jsonlines`, if the `charset` is UTF-8 or absent.
    /// - Throws: `.unsupportedMediaType`, also without a type, or `.unsupportedCharset`.
    public func check(mediaType: MediaType?) throws(CodecError) {
        switch mediaType?.essence {
        case "application/x-ndjson", "application/ndjson", "application/jsonl",
            "application/x-jsonlines":
            try JSONBody.check(charsetOf: mediaType)
        default: throw .unsupported(mediaType, wanted: Self.mediaType)
        }
    }

    /// The values of a stream, each decoded when it is requested.
    ///
    /// The sequence throws the errors of `source`, and the same `CodecError` as ``JSONBody``, with
    /// offsets from the first byte of the stream.
    public func decode<Value: Decodable, Source: AsyncSequence>(
        _ type: Value.Type = Value.self, from source: Source
    ) -> JSONLineSequence<Source, Value> where Source.Element == [UInt8] {
        JSONLineSequence(source: source, values: values)
    }

    /// Appends a value and an LF.
    /// - Throws: the errors of `JSONBody.encode`; nothing is appended then.
    public func encode(_ value: some Encodable, into output: inout [UInt8]) throws {
        var values = values
        // An indented value would be several lines.
        values.options.isIndented = false
        output += try values.encode(value)
        output.append(0x0A)
    }
}

/// The values of newline-delimited JSON; made by ``JSONLines/decode(_:from:)``.
public struct JSONLineSequence<Source: AsyncSequence, Value: Decodable>: AsyncSequence
where Source.Element == [UInt8] {
    let source: Source
    let values: JSONBody
    /// Decodes long lines on another thread; `nil` to decode them on the reader's thread.
    package var lender: HandedWork.Lender?

    /// Reads the values, one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var source: Source.AsyncIterator
        let values: JSONBody
        let lender: HandedWork.Lender?
        var splitter: JSONLineSplitter
        var sourceHasEnded = false

        /// The next value; `nil` after the last.
        public mutating func next() async throws -> Value? {
            try await next(isolation: #isolation)
        }

        /// The next value; `nil` after the last.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws -> Value? {
            while true {
                if let line = try splitter.next() {
                    return try await decode(line, isolation: actor)
                }
                if sourceHasEnded { return nil }
                if let piece = try await source.next(isolation: actor) {
                    splitter.append(piece.span)
                } else {
                    sourceHasEnded = true
                    splitter.finish()
                }
            }
        }

        private func decode(
            _ line: JSONLineSplitter.Line, isolation actor: isolated (any Actor)?
        ) async throws -> Value {
            do {
                return try await values.decode(Value.self, from: line.bytes, by: lender)
            } catch let error as CodecError {
                throw CodecError(error.kind, at: line.offset + error.offset, error.detail)
            }
        }
    }

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            source: source.makeAsyncIterator(), values: values, lender: lender,
            splitter: JSONLineSplitter(lineLimit: values.byteLimit))
    }
}

extension JSONLineSequence: Sendable where Source: Sendable {}
