import HTTPParser
import HTTPServerCore
import Testing

@Suite("RFC 9112, 9: Connection Management, as a value")
struct ConnectionStateTests {
    /// What a request and its answer are like.
    struct Case: Sendable, CustomTestStringConvertible {
        var isPersistent = true
        var version = HTTPVersion.http11
        var contentLeft: Int64? = 0
        var expectsContinue = false
        var endsWithClose = false
        var option: ResponseSerializer.ConnectionOption
        var next: ConnectionState.Next

        var testDescription: String {
            "persistent \(isPersistent), \(version), left \(contentLeft.map { "\($0)" } ?? "?"), "
                + "expects \(expectsContinue), until close \(endsWithClose)"
        }
    }

    @Test(
        "9.3, 9.6: What the response says about the connection, and what follows",
        arguments: [
            Case(option: .none, next: .nextRequest),
            Case(isPersistent: false, option: .close, next: .close),
            Case(version: .http10, option: .keepAlive, next: .nextRequest),
            Case(isPersistent: false, version: .http10, option: .close, next: .close),
            Case(endsWithClose: true, option: .close, next: .close),
            // Little content that nobody read is thrown away, much of it is not worth it.
            Case(contentLeft: 1, option: .none, next: .discardContent),
            Case(
                contentLeft: ConnectionState.discardLimit, option: .none, next: .discardContent),
            Case(
                contentLeft: ConnectionState.discardLimit + 1, option: .close,
                next: .closeLingering),
            Case(contentLeft: nil, option: .close, next: .closeLingering),
            Case(isPersistent: false, contentLeft: 1, option: .close, next: .closeLingering),
            // The client may send its content or not: nobody knows what comes next.
            Case(contentLeft: 1, expectsContinue: true, option: .close, next: .closeLingering),
        ])
    func afterResponse(_ example: Case) {
        var state = ConnectionState()
        state.receivedHead(
            isPersistent: example.isPersistent, version: example.version,
            hasContent: example.contentLeft != 0, expectsContinue: example.expectsContinue)
        #expect(state.isBusy)
        let option = state.beginsResponse(
            contentLeft: example.contentLeft, endsWithClose: example.endsWithClose)
        #expect(option == example.option)
        #expect(state.hasBegunResponse)
        let next = state.endedResponse()
        #expect(next == example.next)
        #expect(!state.isBusy)
    }

    private func state(hasContent: Bool, expectsContinue: Bool = false) -> ConnectionState {
        var state = ConnectionState()
        state.receivedHead(
            isPersistent: true, version: .http11, hasContent: hasContent,
            expectsContinue: expectsContinue)
        return state
    }

    @Test("RFC 9110, 10.1.1: 100 is owed once, and only while it helps")
    func continueIsOwedOnce() {
        var asked = state(hasContent: true, expectsContinue: true)
        let firstIsOwed = asked.wantsContent()
        #expect(firstIsOwed)
        let secondIsOwed = asked.wantsContent()
        #expect(!secondIsOwed)

        var impatient = state(hasContent: true, expectsContinue: true)
        impatient.receivedContent()
        let thirdIsOwed = impatient.wantsContent()
        #expect(!thirdIsOwed)

        var answered = state(hasContent: true, expectsContinue: true)
        _ = answered.beginsResponse(contentLeft: 1)
        let fourthIsOwed = answered.wantsContent()
        #expect(!fourthIsOwed)

        var plain = state(hasContent: true)
        let fifthIsOwed = plain.wantsContent()
        #expect(!fifthIsOwed)
        var empty = state(hasContent: false, expectsContinue: true)
        let sixthIsOwed = empty.wantsContent()
        #expect(!sixthIsOwed)
    }

    @Test("Content that ends before the response, or after it")
    func endOfContent() {
        var early = state(hasContent: true)
        let firstNext = early.receivedEnd()
        #expect(firstNext == nil)
        #expect(early.input == .head)
        _ = early.beginsResponse(contentLeft: 0)
        let secondNext = early.endedResponse()
        #expect(secondNext == .nextRequest)

        var late = state(hasContent: true)
        _ = late.beginsResponse(contentLeft: 1)
        let thirdNext = late.endedResponse()
        #expect(thirdNext == .discardContent)
        #expect(late.input == .content)
        let fourthNext = late.receivedEnd()
        #expect(fourthNext == .nextRequest)
    }

    @Test("Content that failed: nothing after it is read")
    func failedContent() {
        var state = state(hasContent: true)
        state.inputFailed()
        #expect(state.input == .discarded)
        let option = state.beginsResponse(contentLeft: 0)
        #expect(option == .close)
        let next = state.endedResponse()
        #expect(next == .closeLingering)
        #expect(state.input == .discarded)
    }

    @Test("A refused head: one answer, and the rest is thrown away")
    func refusedHead() {
        var state = ConnectionState()
        state.refusedInput()
        #expect(state.isBusy)
        let option = state.beginsResponse(contentLeft: nil)
        #expect(option == .close)
        let next = state.endedResponse()
        #expect(next == .closeLingering)
        #expect(state.input == .discarded)
    }

    @Test("The end of the peer's stream is an end of what was under way")
    func peerEnds() {
        var idle = ConnectionState()
        let firstEnd = idle.peerEnded(insideHead: false)
        #expect(firstEnd == .close)
        var inHead = ConnectionState()
        let secondEnd = inHead.peerEnded(insideHead: true)
        #expect(secondEnd == .truncated)
        var inContent = state(hasContent: true)
        let thirdEnd = inContent.peerEnded(insideHead: false)
        #expect(thirdEnd == .truncated)
        var waiting = state(hasContent: false)
        let fourthEnd = waiting.peerEnded(insideHead: false)
        #expect(fourthEnd == .finishResponse)
        let option = waiting.beginsResponse(contentLeft: 0)
        #expect(option == .close)
        let next = waiting.endedResponse()
        #expect(next == .close)
    }

    @Test("A shutdown closes idle connections and lets busy ones end")
    func shutdown() {
        var idle = ConnectionState()
        let firstIsIdle = idle.beginsShutdown()
        #expect(firstIsIdle)
        var busy = state(hasContent: false)
        let secondIsIdle = busy.beginsShutdown()
        #expect(!secondIsIdle)
        let option = busy.beginsResponse(contentLeft: 0)
        #expect(option == .close)
        let firstNext = busy.endedResponse()
        #expect(firstNext == .close)
        var discarding = state(hasContent: true)
        _ = discarding.beginsResponse(contentLeft: 1)
        _ = discarding.endedResponse()
        let thirdIsIdle = discarding.beginsShutdown()
        #expect(!thirdIsIdle)
        let secondNext = discarding.receivedEnd()
        #expect(secondNext == .close)
    }
}
