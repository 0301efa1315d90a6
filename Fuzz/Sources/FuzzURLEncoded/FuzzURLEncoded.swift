import HTTPCodecs

/// The parser yields pairs or its own error, and neither depends on where the input was split; what
/// it took, the encoder writes so that it is taken again, and percent-encoding comes off as it went
/// on.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzURLEncoded(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    guard let choice = input.first else { return 0 }
    let bytes = Array(input.dropFirst())
    let options = options(choice)
    let whole = read(bytes, by: max(bytes.count, 1), options)
    for count in [1, 2, 3, 4 + Int(choice >> 3)] {
        check(read(bytes, by: count, options) == whole, "split by \(count)")
    }
    if case .success(let form) = whole { checkRoundTrip(form) }
    if let form = try? FormURLEncoded(bytes.span) { checkAgainstPlainReading(bytes, form) }
    checkPercentEncoding(bytes)
    return 0
}

private func check(_ holds: Bool, _ what: String) {
    guard holds else { fatalError(what) }
}

private func options(_ choice: UInt8) -> FormURLEncoded.Options {
    var options = FormURLEncoded.Options()
    options.refusesInvalidEscapes = choice & 1 != 0
    options.refusesInvalidText = choice & 2 != 0
    if choice & 4 != 0 {
        options.pairLimit = 5
        options.byteLimit = 40
    }
    return options
}

private func read(
    _ bytes: [UInt8], by count: Int, _ options: FormURLEncoded.Options
) -> Result<FormURLEncoded, CodecError> {
    var parser = FormURLEncodedParser(options: options)
    do throws(CodecError) {
        for start in stride(from: 0, to: bytes.count, by: count) {
            let end = min(start + count, bytes.count)
            try parser.append(bytes.span.extracting(start..<end))
        }
        return .success(try parser.finish())
    } catch {
        check((0...Int64(bytes.count)).contains(error.offset), "offset")
        check(Result.failure(error) == again(&parser), "an error is final")
        return .failure(error)
    }
}

private func again(
    _ parser: inout FormURLEncodedParser
) -> Result<FormURLEncoded, CodecError> {
    Result { () throws(CodecError) in try parser.finish() }
}

private func checkRoundTrip(_ form: FormURLEncoded) {
    check((try? FormURLEncoded(form.encoded.span)) == form, "round trip")
    let texts = FormURLEncoded(form.map { ($0.name, $0.value) })
    check((try? FormURLEncoded(texts.description, options: .strict)) == texts, "strict round trip")
    for pair in texts {
        check(texts.values(of: pair.name).contains { $0 == pair.value }, "lookup")
    }
}

/// The steps of the standard one by one, as slowly as they are written there.
private func checkAgainstPlainReading(_ bytes: [UInt8], _ form: FormURLEncoded) {
    let pieces = bytes.split(separator: UInt8(ascii: "&"))
    check(pieces.count == form.count, "number of pairs")
    for (index, piece) in pieces.enumerated() {
        let halves = piece.split(
            separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        check(plain(halves[0]) == Array(form.nameBytes(at: index)), "name")
        let value = halves.count == 2 ? plain(halves[1]) : []
        check(value == Array(form.valueBytes(at: index)), "value")
    }
}

private func plain(_ piece: ArraySlice<UInt8>) -> [UInt8] {
    let spaced = piece.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
    var output: [UInt8] = []
    check((try? PercentEncoding.decode(spaced.span, .lenient, into: &output)) != nil, "lenient")
    return output
}

private func checkPercentEncoding(_ bytes: [UInt8]) {
    for set in [PercentEncoding.ByteSet.unreserved, .path, .query, .form, .urlComponent] {
        var encoded: [UInt8] = []
        PercentEncoding.encode(bytes.span, keeping: set, into: &encoded)
        check(encoded.allSatisfy { set.contains($0) || $0 == UInt8(ascii: "%") }, "encoded")
        var decoded: [UInt8] = []
        check((try? PercentEncoding.decode(encoded.span, into: &decoded)) != nil, "decodes")
        check(decoded == bytes, "percent-encoding")
    }
    var strict: [UInt8] = []
    guard (try? PercentEncoding.decode(bytes.span, into: &strict)) != nil else { return }
    var lenient: [UInt8] = []
    check((try? PercentEncoding.decode(bytes.span, .lenient, into: &lenient)) != nil, "lenient")
    check(strict == lenient, "strict and lenient")
}
