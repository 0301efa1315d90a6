import HTTPParser

/// Standard input as lines of cases, each answered by one line, in order.
enum ParseBatch {
    /// Reads to the end of the input.
    /// - Returns: whether every line was a valid case, regardless of its outcome.
    static func run(defaultKind: BatchCase.Kind) throws -> Bool {
        var batch = BatchRun(defaultKind: defaultKind)
        var input = StandardInput()
        // Results are written before the next read, so that a script may wait for them.
        while try input.read({ try batch.take($0, flush: { try StandardOutput.write(&$0) }) }) {}
        try batch.finish { try StandardOutput.write(&$0) }
        guard batch.faults > 0 else { return true }
        warn("\(batch.faults) of \(batch.lines) lines are no cases")
        return false
    }
}

/// The lines of a batch, fed in pieces of any size.
struct BatchRun: ~Copyable {
    typealias Flush = (inout ByteBuffer) throws -> Void

    private(set) var lines = 0
    private(set) var faults = 0
    private let decoder: BatchCaseDecoder
    private var input = ByteBuffer()
    /// The number of bytes of the unfinished line that were searched for its end.
    private var searched = 0
    private var output = ByteBuffer()

    init(defaultKind: BatchCase.Kind = .request) {
        decoder = BatchCaseDecoder(defaultKind: defaultKind)
    }

    /// Answers the lines that a piece completes.
    mutating func take(_ bytes: Span<UInt8>, flush: Flush) throws {
        input.append(bytes)
        while let end = lineEnd() {
            answer(length: end)
            input.consume(end + 1)
            searched = 0
            if output.count > 256 << 10 { try flush(&output) }
        }
        try flush(&output)
    }

    /// Answers a last line without a line feed.
    mutating func finish(_ flush: Flush) throws {
        if !input.isEmpty { answer(length: input.count) }
        input.removeAll()
        try flush(&output)
    }

    private mutating func lineEnd() -> Int? {
        let count = input.count
        var position = searched
        while position < count, input.bytes[position] != UInt8(ascii: "\n") { position += 1 }
        searched = position
        return position < count ? position : nil
    }

    private mutating func answer(length: Int) {
        lines += 1
        switch decoded(input.bytes.extracting(0..<length)) {
        case nil: return
        case .success(let batchCase): output.append(batchCase.outcome(), id: batchCase.id)
        case .failure(let fault):
            faults += 1
            output.append(fault, line: lines)
        }
    }

    /// The case in a line; `nil` for an empty line, which is counted but not answered.
    private func decoded(_ line: Span<UInt8>) -> Result<BatchCase, CaseFault>? {
        let isBlank = line.indices.allSatisfy {
            line[$0] == 0x20 || line[$0] == 0x09 || line[$0] == 0x0D
        }
        guard !isBlank else { return nil }
        return Result { () throws(CaseFault) in try decoder.decode(line) }
    }
}
