import HTTPParser
import Testing
import WebSocketFrames

@Suite("Autobahn test suite, families 1 to 7")
struct AutobahnTests {
    @Test(
        "each case has the expected events and close code at every split of the stream",
        arguments: AutobahnRule.all)
    func ruleHolds(_ rule: AutobahnRule) {
        for role in [WebSocketRole.server, .client] {
            let sender: WebSocketRole = role == .server ? .client : .server
            let bytes = rule.frames.bytes(by: sender)
            let (outcome, disagreement) = WebSocketMachine.checkedOutcome(of: bytes, to: role)
            #expect(outcome.description == rule.expected)
            #expect(disagreement == nil)
        }
    }

    @Test("each ping is answered by a pong with its payload", arguments: AutobahnRule.all)
    func eachPingHasItsPong(_ rule: AutobahnRule) {
        let (outcome, _) = WebSocketMachine.checkedOutcome(of: rule.frames.bytes(by: .client))
        let pings = outcome.events.compactMap { event in
            if case .ping(let bytes) = event { bytes } else { nil }
        }
        #expect(outcome.written.filter { $0.opcode == 10 }.map(\.payload) == pings)
    }

    @Test(
        "an invalid stream fails at its first invalid byte",
        arguments: AutobahnRule.all.filter { $0.failsAfter != nil })
    func failsAtOnce(_ rule: AutobahnRule) throws {
        let count = try #require(rule.failsAfter)
        let bytes = rule.frames.bytes(by: .client)
        let before = WebSocketMachine.outcome(of: [bytes[..<(count - 1)]])
        let after = WebSocketMachine.outcome(of: [bytes[..<count]])
        #expect(!before.hasEnded)
        #expect(after.hasEnded)
    }

    @Test(
        "readers of pieces get the same messages, last event and frames",
        arguments: AutobahnRule.all)
    func holdsInPieces(_ rule: AutobahnRule) {
        let bytes = rule.frames.bytes(by: .client)
        let whole = WebSocketMachine.outcome(of: [bytes[...]])
        let pieces = WebSocketMachine.outcome(
            of: bytes.indices.map { bytes[$0...$0] }, options: .init(deliversPieces: true))
        #expect(pieces.messages == whole.messages)
        #expect(pieces.events.last == whole.events.last)
        #expect(pieces.written == whole.written)
    }
}

extension Outcome {
    var hasEnded: Bool {
        if case .closed = events.last { true } else { false }
    }

    /// The content of the whole messages.
    var messages: [[UInt8]] {
        joined.events.compactMap { event in
            switch event {
            case .message(let message): message.bytes
            case .piece(let piece): piece.isLast ? piece.bytes : nil
            default: nil
            }
        }
    }
}
