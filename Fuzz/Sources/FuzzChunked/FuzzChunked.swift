import HTTPCodecs
import HTTPParser

/// The decoder yields content or its own error, and neither depends on where the input was split;
/// what it took, the encoder writes so that it is taken again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzChunked(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    guard let choice = input.first else { return 0 }
    let bytes = Array(input.dropFirst())
    let limits = choice & 1 == 0 ? .standard : smallLimits
    let whole = decode(bytes, by: max(bytes.count, 1), limits)
    for count in [1, 2, 3, 1 + Int(choice >> 1)] {
        check(decode(bytes, by: count, limits) == whole, "split by \(count)")
        if whole.error?.kind != .trailingGarbage {
            check(steps(bytes, by: count, limits) == whole, "steps by \(count)")
        }
    }
    if whole.error == nil { checkRoundTrip(whole) }
    return 0
}

private struct Outcome: Equatable {
    var content: [UInt8] = []
    var trailers = HTTPFields()
    var error: CodecError?
}

private var smallLimits: ParserLimits {
    var limits = ParserLimits()
    limits.chunkExtensionBytes = 8
    limits.trailerBytes = 30
    limits.fieldLineBytes = 20
    limits.fieldCount = 2
    limits.contentBytes = 20
    return limits
}

private func check(_ holds: Bool, _ what: String) {
    guard holds else { fatalError(what) }
}

private func decode(_ bytes: [UInt8], by count: Int, _ limits: ParserLimits) -> Outcome {
    var decoder = ChunkedDecoder(limits: limits)
    var outcome = Outcome()
    do throws(CodecError) {
        for start in stride(from: 0, to: bytes.count, by: count) {
            let piece = Array(bytes[start..<min(start + count, bytes.count)])
            try decoder.decode(piece.span, into: &outcome.content)
        }
        try decoder.finish()
        outcome.trailers = decoder.trailers
    } catch {
        check((0...Int64(bytes.count)).contains(error.offset), "offset")
        outcome.error = error
    }
    return outcome
}

private func steps(_ bytes: [UInt8], by count: Int, _ limits: ParserLimits) -> Outcome {
    var decoder = ChunkedDecoder(limits: limits)
    var outcome = Outcome()
    var kept: [UInt8] = []
    do throws(CodecError) {
        for start in stride(from: 0, to: bytes.count, by: count) {
            kept += bytes[start..<min(start + count, bytes.count)]
            var position = 0
            while case .content(let range) = try decoder.next(kept.span, from: &position) {
                outcome.content += kept[range]
            }
            kept.removeFirst(position)
        }
        try decoder.finish()
        outcome.trailers = decoder.trailers
    } catch {
        outcome.error = error
    }
    return outcome
}

private func checkRoundTrip(_ outcome: Outcome) {
    var encoder = ChunkedEncoder()
    var output: [UInt8] = []
    encoder.encode(outcome.content.span, into: &output)
    do throws(HTTPMessageError) {
        try encoder.finish(into: &output, trailers: outcome.trailers)
    } catch {
        // A peer may send such trailers; nobody may send them on.
        return check(error.kind == .framingField, "trailers")
    }
    check(decode(output, by: max(output.count, 1), .standard) == outcome, "round trip")
}
