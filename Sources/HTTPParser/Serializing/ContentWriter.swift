/// Writes content and its end in the framing that the head announced.
package struct ContentWriter: Sendable {
    private enum State { case omitted, length, chunked, untilClose }

    private var state: State
    private var remaining: Int64 = 0

    package init(_ framing: BodyFraming, isOmitted: Bool) {
        switch framing {
        case _ where isOmitted: state = .omitted
        case .none, .tunnel: state = .length
        case .length(let length):
            state = .length
            remaining = length
        case .chunked: state = .chunked
        case .untilClose: state = .untilClose
        }
    }

    mutating func write(
        _ bytes: Span<UInt8>, into buffer: inout ByteBuffer
    ) throws(HTTPMessageError) {
        // An empty chunk would end the content (RFC 9112 section 7.1).
        guard bytes.count > 0, state != .omitted else { return }
        try begin(Int64(bytes.count), into: &buffer)
        buffer.append(bytes)
        complete(into: &buffer)
    }

    /// Opens a piece of `count` bytes that the caller writes itself; `complete(into:)` closes it.
    package mutating func begin(
        _ count: Int64, into buffer: inout ByteBuffer
    ) throws(HTTPMessageError) {
        if state == .length {
            guard count <= remaining else { throw HTTPMessageError(.contentTooLong) }
            remaining -= count
        }
        guard state == .chunked else { return }
        buffer.append(hexadecimal: UInt64(count))
        buffer.append(literal: "\r\n")
    }

    package func complete(into buffer: inout ByteBuffer) {
        if state == .chunked { buffer.append(literal: "\r\n") }
    }

    package mutating func finish(
        trailers: HTTPFields, into buffer: inout ByteBuffer
    ) throws(HTTPMessageError) {
        guard remaining == 0 else { throw HTTPMessageError(.contentTooShort) }
        guard state == .chunked else {
            guard trailers.isEmpty || state == .omitted else {
                throw HTTPMessageError(.misplacedTrailers)
            }
            return
        }
        let before = buffer.count
        buffer.append(literal: "0\r\n")
        do throws(HTTPMessageError) {
            try buffer.append(fields: trailers)
        } catch {
            buffer.truncate(to: before)
            throw error
        }
        buffer.append(literal: "\r\n")
    }
}
