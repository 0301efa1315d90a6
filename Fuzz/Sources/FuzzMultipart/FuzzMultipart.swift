import FuzzSupport
import HTTPCodecs
import HTTPParser

/// Any input gives parts or a `CodecError`, the same for any split; what is accepted is read again
/// from its written form.
///
/// Three bytes choose how the rest is read: bit 0 of the first the kind, bit 1 the leniency, bit 2
/// small limits; the other two the cuts.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMultipart(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    guard bytes.count >= 3, let setup = Setup(bytes[0]) else { return 0 }
    let input = Array(bytes[3...])
    let whole = setup.outcome(input, cuts: [])
    var random = SeededGenerator(seed: UInt64(bytes[1]) << 8 | UInt64(bytes[2]))
    let cuts = (0...Int(bytes[1] & 7)).map { _ in
        Int.random(in: 0...input.count, using: &random)
    }
    for cuts in [cuts.sorted(), input.count <= 400 ? Array(input.indices) : []] {
        check(setup.outcome(input, cuts: cuts) == whole, "cut at \(cuts)", input)
        check(setup.steps(input, cuts: cuts) == whole, "steps cut at \(cuts)", input)
    }
    if whole.error == nil { checkRoundTrip(whole, input) }
    return 0
}

private func check(_ holds: Bool, _ what: String, _ input: [UInt8]) {
    guard holds else { fatalError("\(what): \(input)") }
}

private struct Part: Equatable {
    var head: PartHead
    var content: [UInt8] = []
    var isComplete = false
}

private struct Outcome: Equatable {
    var parts: [Part] = []
    var isAtEnd = false
    var error: CodecError?

    mutating func begin(_ head: PartHead) {
        guard parts.last?.isComplete ?? true, !isAtEnd else { fatalError("part in a part") }
        parts.append(Part(head: head))
    }

    mutating func add(_ bytes: Span<UInt8>) {
        guard let last = parts.last, !last.isComplete, !bytes.isEmpty else {
            fatalError("content of no part")
        }
        for index in bytes.indices { parts[parts.count - 1].content.append(bytes[index]) }
    }

    mutating func endPart() {
        guard let last = parts.last, !last.isComplete else { fatalError("end of no part") }
        parts[parts.count - 1].isComplete = true
    }

    mutating func end() {
        guard parts.last?.isComplete ?? true, !isAtEnd else { fatalError("end in a part") }
        isAtEnd = true
    }
}

private struct Setup {
    let kind: MultipartKind
    let leniency: MultipartLeniency
    var limits = MultipartLimits()
    let boundary: MultipartBoundary

    init?(_ choice: UInt8) {
        guard let boundary = MultipartBoundary("b") else { return nil }
        self.boundary = boundary
        kind = choice & 1 == 0 ? .formData : .mixed
        leniency = choice & 2 == 0 ? [] : .bareLineFeed
        guard choice & 4 != 0 else { return }
        limits.parts = 3
        limits.partHeadBytes = 90
        limits.fieldCount = 3
        limits.nameBytes = 4
        limits.fieldBytes = 5
        limits.fileBytes = 9
        limits.totalBytes = 300
        limits.fillerBytes = 6
    }

    /// The events of the parser with an internal buffer.
    func outcome(_ input: [UInt8], cuts: [Int]) -> Outcome {
        var parser = MultipartParser(kind, boundary: boundary, limits: limits, leniency: leniency)
        var outcome = Outcome()
        do throws(CodecError) {
            for piece in pieces(input, cuts) {
                parser.append(Array(piece).span)
                while let event = try parser.next() {
                    switch event {
                    case .part(let head): outcome.begin(head)
                    case .content(let bytes): outcome.add(bytes)
                    case .partEnd: outcome.endPart()
                    case .end: outcome.end()
                    }
                }
            }
            try parser.finish()
        } catch { outcome.error = error }
        return outcome
    }

    /// The events of the parser that reads the caller's bytes.
    func steps(_ input: [UInt8], cuts: [Int]) -> Outcome {
        var parser = PartParser(kind, boundary: boundary, limits: limits, leniency: leniency)
        var outcome = Outcome()
        var bytes: [UInt8] = []
        var isInContent = false
        do throws(CodecError) {
            for piece in pieces(input, cuts) {
                bytes += piece
                var position = 0
                reading: while true {
                    switch try parser.next(bytes.span, from: &position) {
                    case .part(let head):
                        outcome.begin(head)
                        isInContent = true
                    case .content(let range): outcome.add(bytes.span.extracting(range))
                    case .partEnd:
                        outcome.endPart()
                        isInContent = false
                    case .end: outcome.end()
                    case .more: break reading
                    }
                }
                bytes.removeSubrange(..<position)
                check(!isInContent || bytes.count <= 76, "held back", input)
            }
            try parser.finish()
        } catch { outcome.error = error }
        return outcome
    }

    private func pieces(_ input: [UInt8], _ cuts: [Int]) -> [ArraySlice<UInt8>] {
        zip([0] + cuts, cuts + [input.count]).map { input[$0..<$1] }
    }
}

private func checkRoundTrip(_ outcome: Outcome, _ input: [UInt8]) {
    check(outcome.isAtEnd, "accepted without an end", input)
    var written = MultipartSerializer<Never>(.mixed)
    do throws(HTTPMessageError) {
        for part in outcome.parts { try written.append(part.head.fields, bytes: part.content) }
    } catch { fatalError("\(error): \(input)") }
    let type = written.mediaType
    check(written.length == Int64(written.bytes.count), "length", input)
    do throws(CodecError) {
        var limits = MultipartLimits()
        // Latin-1 becomes UTF-8 on the way.
        limits.partHeadBytes *= 2
        var parser = try MultipartParser(of: type, limits: limits)
        parser.append(written.bytes.span)
        var again = Outcome()
        while let event = try parser.next() {
            switch event {
            case .part(let head): again.begin(head)
            case .content(let bytes): again.add(bytes)
            case .partEnd: again.endPart()
            case .end: again.end()
            }
        }
        try parser.finish()
        let isSame = again.parts.elementsEqual(outcome.parts) {
            $0.head.fields == $1.head.fields && $0.content == $1.content
        }
        check(isSame, "round trip", input)
    } catch { fatalError("\(error): \(input)") }
    checkForm(outcome, input)
}

/// Names and file names come back from a form, but for control characters and percent signs.
private func checkForm(_ outcome: Outcome, _ input: [UInt8]) {
    var written = MultipartSerializer<Never>()
    let parts = outcome.parts.filter { part in
        [part.head.name ?? "", part.head.fileName ?? ""].allSatisfy { text in
            text.utf8.allSatisfy { $0 != 0x25 && ($0 >= 0x20 && $0 != 0x7F || $0 == 9) }
        }
    }
    do throws(HTTPMessageError) {
        for part in parts {
            try written.append(
                name: part.head.name ?? "", fileName: part.head.fileName,
                mediaType: part.head.isFile ? .octetStream : nil, bytes: part.content)
        }
    } catch { fatalError("\(error): \(input)") }
    var parser = MultipartParser(.formData, boundary: written.boundary)
    parser.append(written.bytes.span)
    var heads: [PartHead] = []
    do throws(CodecError) {
        while let event = try parser.next() {
            if case .part(let head) = event { heads.append(head) }
        }
        try parser.finish()
    } catch { fatalError("\(error): \(input)") }
    let isSame = heads.elementsEqual(parts) {
        $0.name == ($1.head.name ?? "") && $0.fileName == $1.head.fileName
    }
    check(isSame, "names", input)
}
