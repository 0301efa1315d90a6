import HTTPCodecs

/// The decoder yields content or its own error, and neither depends on where the input was split or
/// how much was asked for; what the encoder writes is read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzGzip(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    guard let choice = input.first else { return 0 }
    let bytes = Array(input.dropFirst())
    let coding: ContentCoding = choice & 1 == 0 ? .gzip : .deflate
    let limits = choice & 2 == 0 ? usualLimits : smallLimits
    let whole = decode(coding, bytes, by: max(bytes.count, 1), limits)
    for count in [1, 2, 1 + Int(choice >> 2)] {
        let split = decode(coding, bytes, by: count, limits)
        check(split == whole, "split by \(count): \(split), not \(whole)")
        let steps = decode(coding, bytes, by: count, room: 1 + Int(choice), limits)
        check(steps == whole, "steps by \(count): \(steps), not \(whole)")
    }
    if choice & 1 == 1 { checkWrapped(bytes, limits) }
    checkRoundTrip(coding, bytes, level: 1 + Int(choice >> 2) % 9)
    return 0
}

private struct Outcome: Equatable {
    var content: [UInt8] = []
    var error: CodecError?
}

private let pool = ContentCodingPool()
private let usualLimits = ContentDecodingLimits(outputBytes: 20_000)
private let smallLimits = ContentDecodingLimits(
    outputBytes: 10_000, ratio: 5, ratioFloor: 50, memberHeadBytes: 20)

private func check(_ holds: Bool, _ what: @autoclosure () -> String) {
    guard holds else { fatalError(what()) }
}

private func decode(
    _ coding: ContentCoding, _ bytes: [UInt8], by count: Int, room: Int? = nil,
    _ limits: ContentDecodingLimits
) -> Outcome {
    var outcome = Outcome()
    do throws(CodecError) {
        var decoder = try ContentDecoder(coding, limits: limits, pool: pool)
        for start in stride(from: 0, to: bytes.count, by: count) {
            let piece = bytes.span.extracting(start..<min(start + count, bytes.count))
            if let room {
                try step(piece, room, &decoder, &outcome.content)
            } else {
                try decoder.decode(piece, into: &outcome.content)
            }
        }
        try decoder.finish(into: &outcome.content)
    } catch {
        check((0...Int64(bytes.count)).contains(error.offset), "offset of \(error)")
        outcome.error = error
    }
    check(Int64(outcome.content.count) <= limits.outputBytes, "above the limit")
    return outcome
}

private func step(
    _ piece: Span<UInt8>, _ room: Int, _ decoder: inout ContentDecoder, _ content: inout [UInt8]
) throws(CodecError) {
    var position = 0
    var wantsInput = false
    while !wantsInput {
        let before = content.count
        wantsInput = try decoder.decode(piece, from: &position, into: &content, upTo: room)
        check(content.count - before <= room, "above the room")
    }
    check(position == piece.count, "bytes left")
}

/// The same data as a member of gzip, whose head is hard to guess.
private func checkWrapped(_ bytes: [UInt8], _ limits: ContentDecodingLimits) {
    let head: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
    let member = decode(.gzip, head + bytes, by: 1 << 20, limits)
    check(decode(.gzip, head + bytes, by: 1, limits) == member, "wrapped, byte by byte")
    check(decode(.gzip, head + bytes, by: 3, room: 7, limits) == member, "wrapped, in steps")
}

private func checkRoundTrip(_ coding: ContentCoding, _ content: [UInt8], level: Int) {
    do throws(CodecError) {
        var encoder = try ContentEncoder(coding, level: level, pool: pool)
        var packed: [UInt8] = []
        let half = content.count / 2
        encoder.encode(content.span.extracting(..<half), into: &packed)
        if content.count % 2 == 0 { encoder.flush(into: &packed) }
        encoder.finish(content.span.extracting(half...), into: &packed)
        let decoded = decode(coding, packed, by: packed.count, usualLimits)
        check(decoded == Outcome(content: content), "round trip")
    } catch {
        check(false, "\(error)")
    }
}
