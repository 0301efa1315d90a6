import HTTPParser

/// A complete message of a case.
struct ParsedMessage: Equatable, Sendable {
    var head: ParsedHead
    var interim: [UInt16] = []
    var content: [UInt8] = []
    var trailers: [ParsedField] = []
}

/// The result of a case.
struct CaseOutcome: Equatable, Sendable {
    enum Result: String, Sendable { case accept, reject, incomplete }

    var result = Result.accept
    var messages: [ParsedMessage] = []
    var rest: [UInt8] = []
    var error: HTTPParseError?
}

extension BatchCase {
    private static var pieceBytes: Int { 32 << 10 }

    /// Parses the bytes, whose end is the end of the stream.
    func outcome() -> CaseOutcome {
        switch kind {
        case .request:
            let parser = RequestParser(limits: limits.parserLimits)
            return run(MessageReader(parser, budget: limits.budget))
        case .response:
            var parser = ResponseParser(limits: limits.parserLimits)
            for method in requestMethods { parser.expect(method) }
            // A status line has no target.
            return run(MessageReader(parser, budget: HeadBudget(headBytes: limits.maxHeadBytes)))
        }
    }

    private func run<Parser: MessageParser & ~Copyable>(
        _ reader: consuming MessageReader<Parser>
    ) -> CaseOutcome {
        var collector = MessageCollector(requestMethods: requestMethods)
        var outcome = CaseOutcome()
        do throws(HTTPParseError) {
            // Fed in pieces, because finding an offset copies all bytes that are not read yet.
            var fed = 0
            while fed < bytes.count {
                let end = min(fed + Self.pieceBytes, bytes.count)
                reader.append(bytes.span.extracting(fed..<end))
                while let event = try reader.next() { collector.take(event) }
                fed = end
            }
            try reader.finish()
            // Content that ends with the stream is complete only now.
            while let event = try reader.next() { collector.take(event) }
            if reader.stopReason != nil { outcome.rest = reader.takeRest() }
        } catch {
            // Truncated input is not an error: more bytes might have made it valid.
            outcome.result = error.kind == .truncated ? .incomplete : .reject
            outcome.error = error.kind == .truncated ? nil : error
        }
        outcome.messages = collector.messages
        return outcome
    }
}

/// Assembles events into messages, and keeps the complete ones.
struct MessageCollector {
    private(set) var messages: [ParsedMessage] = []
    private let requestMethods: [HTTPMethod]
    private var interim: [UInt16] = []
    private var open: ParsedMessage?

    init(requestMethods: [HTTPMethod] = []) {
        self.requestMethods = requestMethods
    }

    mutating func take(_ event: MessageEvent) {
        switch event {
        case .interim(let head):
            if case .response(let status, _) = head.startLine { interim.append(status) }
        case .head(var head):
            // A length in a response to HEAD is that of content that does not follow.
            if head.reason != nil, answersHead { head.framing = .none }
            open = ParsedMessage(head: head, interim: interim)
            interim = []
        case .content(let bytes): open?.content.append(contentsOf: bytes)
        case .end(let trailers):
            guard var message = open else { return }
            message.trailers = trailers
            messages.append(message)
            open = nil
        }
    }

    private var answersHead: Bool {
        requestMethods.indices.contains(messages.count) && requestMethods[messages.count] == .head
    }
}
