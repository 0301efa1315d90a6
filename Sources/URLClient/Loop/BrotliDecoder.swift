internal import CCurlShims
package import HTTPCodecs

/// Decodes the content coding br (RFC 7932), piece by piece, within limits.
///
/// Uses libbrotlidec, which is loaded at run time: libcurl depends on it on most systems. A decoder
/// holds at most the format's window of 16 MiB; larger windows are refused. An error is final, and
/// content is complete only after ``finish()``.
@safe
package final class BrotliDecoder {
    /// Whether the library was found.
    package static let isAvailable = http_brotli_is_there() != 0

    /// How many bytes of output lie between two checks of the ratio.
    private static let checkDistance: Int64 = 64 << 10

    private let raw: UnsafeMutableRawPointer
    private let limits: ContentDecodingLimits
    private var readCount: Int64 = 0
    private var writtenCount: Int64 = 0
    /// The number of output bytes at which the ratio is checked next.
    private var nextCheck: Int64
    private var isEnded = false
    private var failure: CodecError?

    /// - Parameter limits: the limits of the decoded content.
    /// - Throws: `.outOfMemory`, also if the library was not found.
    package init(_ limits: ContentDecodingLimits) throws(CodecError) {
        guard let raw = unsafe http_brotli_create() else { throw CodecError(.outOfMemory) }
        unsafe self.raw = unsafe raw
        self.limits = limits
        nextCheck = limits.ratioFloor
    }

    deinit { unsafe http_brotli_destroy(raw) }

    /// Decodes bytes and appends their content to `output`.
    /// - Throws: `.invalidCompressedData`, `.trailingGarbage`, `.outputTooLong` or `.ratioTooHigh`.
    package func decode(_ bytes: Span<UInt8>, into output: inout [UInt8]) throws(CodecError) {
        if let failure { throw failure }
        do throws(CodecError) {
            try step(bytes, into: &output)
        } catch {
            failure = error
            throw error
        }
    }

    /// Ends the input.
    /// - Throws: `.truncated` if the coding is incomplete; an error that was thrown before, again.
    package func finish() throws(CodecError) {
        if let failure { throw failure }
        guard isEnded else { throw CodecError(.truncated, at: readCount) }
    }

    private func step(_ bytes: Span<UInt8>, into output: inout [UInt8]) throws(CodecError) {
        var position = 0
        while !isEnded {
            let room = Int(
                clamping: min(
                    max(min(limits.outputBytes, nextCheck) - writtenCount, 0), Self.checkDistance))
            switch decompress(bytes, &position, into: &output, room: room) {
            case http_brotli_ended: isEnded = true
            case http_brotli_wants_input: return
            // With `room` 0, this answer proves that there is more output.
            case http_brotli_wants_room: if room == 0 { try passCheck() }
            default: throw CodecError(.invalidCompressedData, at: readCount, "brotli")
            }
        }
        guard position == bytes.count else { throw CodecError(.trailingGarbage, at: readCount) }
    }

    private func passCheck() throws(CodecError) {
        guard writtenCount < limits.outputBytes else {
            throw CodecError(.outputTooLong, at: readCount)
        }
        let (allowed, isVast) = readCount.multipliedReportingOverflow(by: limits.ratio)
        guard isVast || writtenCount <= allowed else {
            throw CodecError(.ratioTooHigh, at: readCount)
        }
        let (next, overflow) = writtenCount.addingReportingOverflow(Self.checkDistance)
        nextCheck = overflow ? .max : next
    }

    private func decompress(
        _ bytes: Span<UInt8>, _ position: inout Int, into output: inout [UInt8], room: Int
    ) -> Int {
        var read = bytes.count - position
        var written = room
        var answer: Int32 = 0
        let input = bytes.extracting(position..<bytes.count)
        unsafe input.withUnsafeBufferPointer { input in
            guard room > 0 else {
                answer = unsafe http_brotli_decode(raw, input.baseAddress, &read, nil, &written)
                return
            }
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: room) { space, count in
                answer = unsafe http_brotli_decode(
                    raw, input.baseAddress, &read, space.baseAddress, &written)
                count = written
            }
            output.append(contentsOf: piece)
        }
        position += read
        readCount += Int64(read)
        writtenCount += Int64(written)
        return Int(answer)
    }
}
