internal import ToolkitSystem

// HTTP without TLS.
extension TLSTransport {
    var isPlainFull: Bool {
        if case .plain(let exchange) = phase { exchange.isFull } else { false }
    }

    func beginPlain() -> IOResult {
        answerPlain(PlainExchange(redirects: redirects))
    }

    func receivePlain(_ exchange: PlainExchange) -> IOResult {
        switch readLower() {
        case .done(0): return .done(0)
        case .done: return answerPlain(exchange)
        case let other: return other
        }
    }

    private func answerPlain(_ exchange: consuming PlainExchange) -> IOResult {
        let isFirst = !exchange.hasEnded
        let result = exchange.receive(room.takeRest(), from: lower)
        if isFirst, exchange.hasEnded { owner?.noteFailure("HTTP without TLS") }
        phase = .plain(exchange)
        if isPlainFull { lower.watch(watched) }
        return result
    }
}
