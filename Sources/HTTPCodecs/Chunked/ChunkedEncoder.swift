public import HTTPParser

/// Applies the chunked transfer coding to content that is not sent over a connection.
///
/// ```swift
/// var encoder = ChunkedEncoder()
/// var output: [UInt8] = []
/// encoder.encode(Array("abc".utf8).span, into: &output)
/// try encoder.finish(into: &output, trailers: ["A": "b"])
/// String(decoding: output, as: UTF8.self)    // "3\r\nabc\r\n0\r\nA: b\r\n\r\n"
/// ```
///
/// Any call after `finish(into:trailers:)` traps.
///
/// RFC 9112, section 7.1.
public struct ChunkedEncoder: ~Copyable, Sendable {
    private var writer = ContentWriter(.chunked, isOmitted: false)
    /// A buffer for the lines around the content. Content does not pass through it.
    private var lines = ByteBuffer(capacity: 32)
    private var isFinished = false

    /// Creates an encoder.
    public init() {}

    /// Appends one chunk with these bytes to `output`. Without bytes it appends nothing, because an
    /// empty chunk ends the content.
    public mutating func encode(_ bytes: Span<UInt8>, into output: inout [UInt8]) {
        guard bytes.count > 0 else { return }
        beginChunk(of: Int64(bytes.count), into: &output)
        output.append(copying: bytes)
        endChunk(into: &output)
    }

    /// Appends the line before a chunk of `count` bytes, more than 0. The caller sends the chunk's
    /// content, and `endChunk(into:)` appends the bytes after it.
    public mutating func beginChunk(of count: Int64, into output: inout [UInt8]) {
        precondition(!isFinished, "the content is finished")
        precondition(count > 0, "an empty chunk would end the content")
        do throws(HTTPMessageError) {
            try writer.begin(count, into: &lines)
        } catch {
            preconditionFailure("chunks have no length to exceed")
        }
        takeLines(into: &output)
    }

    /// Appends the bytes after a chunk.
    public mutating func endChunk(into output: inout [UInt8]) {
        precondition(!isFinished, "the content is finished")
        writer.complete(into: &lines)
        takeLines(into: &output)
    }

    /// Appends the last chunk and the trailers.
    /// - Throws: `HTTPMessageError` for trailers that must not be sent, such as fields that decide
    ///   framing (RFC 9110 section 6.5.1); nothing is appended then.
    public mutating func finish(
        into output: inout [UInt8], trailers: HTTPFields = HTTPFields()
    ) throws(HTTPMessageError) {
        precondition(!isFinished, "the content is finished")
        try writer.finish(trailers: trailers, into: &lines)
        isFinished = true
        takeLines(into: &output)
    }

    private mutating func takeLines(into output: inout [UInt8]) {
        output.append(copying: lines.bytes)
        lines.removeAll()
    }
}
