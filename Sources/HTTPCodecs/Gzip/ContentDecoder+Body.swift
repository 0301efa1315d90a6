internal import HTTPParser

// The compressed data, and the limits of its expansion.
extension ContentDecoder {
    /// The reason why reading compressed data stopped.
    enum Progress { case wantsInput, wantsRoom, ended }

    /// How many bytes of content lie between two checks of the ratio.
    private static var checkDistance: Int64 { 64 << 10 }

    /// Decompresses until the input is used up, `output` has `end` bytes or the data ends.
    mutating func takeBody(
        _ bytes: Span<UInt8>, _ position: inout Int, into output: inout [UInt8], end: Int,
        isLast: Bool
    ) throws(CodecError) -> Progress {
        while true {
            let bound = min(limits.outputBytes, nextCheck) - writtenCount
            guard bound > 0 else {
                if let progress = try passCheck(bytes, &position, isLast: isLast) {
                    return progress
                }
                continue
            }
            let room = min(
                Self.room(for: bytes.count - position, in: output), Int(clamping: bound),
                end - output.count)
            guard room > 0 else { return .wantsRoom }
            let read = readCount
            let (written, ended) = try inflate(bytes, &position, into: &output, room: room)
            if ended { return .ended }
            guard written < room else { continue }
            if position == bytes.count { return .wantsInput }
            guard readCount > read || written > 0 else {
                throw CodecError(.invalidCompressedData, at: readCount, "no progress")
            }
        }
    }

    /// How much output space to offer for `count` bytes of input.
    private static func room(for count: Int, in output: [UInt8]) -> Int {
        let atHand = min(output.capacity - output.count, ZStream.stepLimit)
        return max(atHand, min(max(count, 128), 16 << 10) * 4)
    }

    /// Checks the limits, and sets the place of the next check if there is more data.
    ///
    /// The decompressor gets no output space, so it reads up to the same byte however the input was
    /// split, and the limits are checked with the same counts. Only when it leaves bytes unread
    /// does it certainly have more output; until then nothing is decided.
    /// - Returns: nil when the check was passed.
    private mutating func passCheck(
        _ bytes: Span<UInt8>, _ position: inout Int, isLast: Bool
    ) throws(CodecError) -> Progress? {
        var nothing: [UInt8] = []
        if try inflate(bytes, &position, into: &nothing, room: 0).ended { return .ended }
        let isAtLimit = writtenCount >= limits.outputBytes
        if position == bytes.count {
            guard isLast else { return .wantsInput }
            // At most a few bits are left, which may contain a symbol and the end.
            if isAtLimit { return try probeEnd() }
        } else if isAtLimit {
            throw CodecError(.outputTooLong, at: readCount)
        } else if isRatioTooHigh {
            throw CodecError(.ratioTooHigh, at: readCount)
        }
        let (next, overflow) = writtenCount.addingReportingOverflow(Self.checkDistance)
        nextCheck = overflow ? .max : next
        return nil
    }

    private var isRatioTooHigh: Bool {
        let (allowed, overflow) = readCount.multipliedReportingOverflow(by: limits.ratio)
        return !overflow && writtenCount > allowed
    }

    /// Checks at the limit, when the input has ended, that no other byte of content follows.
    private mutating func probeEnd() throws(CodecError) -> Progress {
        var (position, probe) = (0, [UInt8]())
        let (written, ended) = try inflate(Span(), &position, into: &probe, room: 1)
        guard written == 0 else { throw CodecError(.outputTooLong, at: readCount) }
        return ended ? .ended : .wantsInput
    }

    /// One step of the decompressor, and the update of the counters and the checksum.
    mutating func inflate(
        _ bytes: Span<UInt8>, _ position: inout Int, into output: inout [UInt8], room: Int
    ) throws(CodecError) -> (written: Int, ended: Bool) {
        let start = output.count
        let rest = bytes.extracting(position...)
        guard let step = stream?.inflate(rest, into: &output, room: room) else { return (0, true) }
        position += step.read
        readCount += Int64(step.read)
        writtenCount += Int64(step.written)
        memberLength &+= UInt32(truncatingIfNeeded: step.written)
        if format == .gzip || format == .zlib { checksum.update(output.span.extracting(start...)) }
        switch step.outcome {
        case .paused: return (step.written, false)
        case .end: return (step.written, true)
        case .outOfMemory: throw CodecError(.outOfMemory, at: readCount)
        case .invalid(let message):
            throw CodecError(.invalidCompressedData, at: max(readCount - 1, 0), message)
        }
    }
}
