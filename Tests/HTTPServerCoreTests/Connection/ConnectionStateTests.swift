import HTTPParser
import HTTPServerCore
import Testing

@Suite("RFC 9112, 9: The state machine of a connection")
struct ConnectionStateTests {
    /// Events, each with the state's reaction.
    struct Script: Sendable, CustomTestStringConvertible {
        let title: String
        let rows: [(ConnectionEvent, String)]

        init(_ title: String, _ rows: (ConnectionEvent, String)...) {
            (self.title, self.rows) = (title, rows)
        }

        var testDescription: String { title }

        func run() {
            var state = ConnectionState()
            for (event, expected) in rows {
                let answer = state.take(event)
                #expect(answer == expected, "\(title): \(event)")
            }
        }
    }

    /// A request and its response.
    struct Case: Sendable, CustomTestStringConvertible {
        var isPersistent = true
        var version = HTTPVersion.http11
        var contentLeft: Int64? = 0
        var expectsContinue = false
        var endsWithClose = false
        var option: ResponseSerializer.ConnectionOption
        var next: String

        var testDescription: String {
            "persistent \(isPersistent), \(version), left \(contentLeft.map { "\($0)" } ?? "?"), "
                + "expects \(expectsContinue), until close \(endsWithClose)"
        }
    }

    private static let next = "awaitRequest deadline idle -> idle"
    private static let close = "endInput -> closing"
    private static let linger = "endInput -> closingUnread"
    private static let discard = "discardContent deadline content -> discarding"

    @Test(
        "9.3, 9.6: Each response has the right Connection option and next state",
        arguments: [
            Case(option: .none, next: next),
            Case(isPersistent: false, option: .close, next: close),
            Case(version: .http10, option: .keepAlive, next: next),
            Case(isPersistent: false, version: .http10, option: .close, next: close),
            Case(endsWithClose: true, option: .close, next: close),
            // Short unread content is discarded; long content ends the connection.
            Case(contentLeft: 1, option: .none, next: discard),
            Case(contentLeft: ConnectionState.discardLimit, option: .none, next: discard),
            Case(contentLeft: ConnectionState.discardLimit + 1, option: .close, next: linger),
            Case(contentLeft: nil, option: .close, next: linger),
            Case(isPersistent: false, contentLeft: 1, option: .close, next: linger),
            // The client may send its content or not, so the next bytes are ambiguous.
            Case(contentLeft: 1, expectsContinue: true, option: .close, next: linger),
        ])
    func afterResponse(_ example: Case) {
        var state = ConnectionState(after: [
            .head(
                isPersistent: example.isPersistent, version: example.version,
                hasContent: example.contentLeft != 0, expectsContinue: example.expectsContinue)
        ])
        #expect(state.isBusy)
        let option = state.beginsResponse(
            contentLeft: example.contentLeft, endsWithClose: example.endsWithClose)
        #expect(option == example.option)
        let next = state.take(.responseEnds())
        #expect(next == example.next)
        #expect(!state.isBusy)
    }

    @Test(
        "RFC 9110, 10.1.1: 100 is sent once, and only to a client that still waits for it",
        arguments: [
            Script(
                "once",
                (.head(hasContent: true, expectsContinue: true), "deadline none -> receiving"),
                (.contentWanted, "sendContinue deadline content -> receiving"),
                (.contentWanted, "-> receiving")),
            Script(
                "not to a client that does not wait",
                (.head(hasContent: true, expectsContinue: true), "deadline none -> receiving"),
                (.contentCame, "-> receiving"),
                (.contentWanted, "deadline content -> receiving")),
            Script(
                "not after the final response has begun",
                (.head(hasContent: true, expectsContinue: true), "deadline none -> receiving"),
                (.responseBegins(contentLeft: 1), "Connection: close -> respondingEarly"),
                (.contentWanted, "deadline content -> respondingEarly")),
            Script(
                "not unasked", (.head(hasContent: true), "deadline content -> receiving"),
                (.contentWanted, "-> receiving")),
            Script(
                "not without content", (.head(expectsContinue: true), "deadline none -> handling"),
                (.contentWanted, "-> handling")),
        ])
    func continueIsOwedOnce(_ script: Script) { script.run() }

    @Test(
        "Content may end before the response, after it, or not at all",
        arguments: [
            Script(
                "before", (.head(hasContent: true), "deadline content -> receiving"),
                (.contentEnds(), "deadline none -> handling"),
                (.responseBegins(), "-> responding"), (.responseEnds(), next)),
            Script(
                "after", (.head(hasContent: true), "deadline content -> receiving"),
                (.responseBegins(contentLeft: 1), "-> respondingEarly"), (.responseEnds(), discard),
                (.contentEnds(), next)),
            Script(
                "during the response", (.head(hasContent: true), "deadline content -> receiving"),
                (.responseBegins(contentLeft: 1), "-> respondingEarly"),
                (.contentEnds(), "deadline none -> responding"), (.responseEnds(), next)),
            Script(
                "ill-formed: nothing after it is read",
                (.head(hasContent: true), "deadline content -> receiving"),
                (.contentFails, "failContent deadline none -> refusing"),
                (.responseBegins(), "Connection: close -> respondingLast"),
                (.responseEnds(), linger)),
            Script(
                "ill-formed after the response, which must arrive",
                (.head(hasContent: true), "deadline content -> receiving"),
                (.responseBegins(contentLeft: 1), "-> respondingEarly"), (.responseEnds(), discard),
                (.contentFails, "endInput deadline none -> closingUnread"),
                (.outputSent, "linger deadline linger -> lingering")),
            Script(
                "too slow: 408 while a response can be given",
                (.head(hasContent: true), "deadline content -> receiving"),
                (.deadline, "checkRate -> receiving"),
                (.contentFastEnough, "deadline content -> receiving"),
                (.deadline, "checkRate -> receiving"),
                (.contentTooSlow, "failContent -> refusing")),
            Script(
                "too slow for a response that has begun",
                (.head(hasContent: true), "deadline content -> receiving"),
                (.responseBegins(contentLeft: 1), "-> respondingEarly"),
                (.contentTooSlow, "close(timedOut: content) -> respondingEarly")),
        ])
    func content(_ script: Script) { script.run() }

    @Test(
        "A refused head gets one response, and later input is discarded",
        arguments: [
            Script(
                "ill-formed", (.partOfHead, "-> head"), (.badHead, "deadline none -> refusing"),
                (.responseBegins(contentLeft: nil), "Connection: close -> respondingLast"),
                (.bytesDropped(), "-> respondingLast"), (.responseEnds(), linger),
                (.outputSent, "linger deadline linger -> lingering"),
                (.deadline, "close(malformedRequest) -> lingering")),
            Script(
                "too slow", (.partOfHead, "-> head"),
                (.deadline, "answerTimeout deadline none -> refusing"),
                (.responseBegins(contentLeft: nil), "Connection: close -> respondingLast"),
                (.responseEnds(.input), linger)),
            Script("not even begun", (.deadline, "close(timedOut: head) -> idle")),
            Script(
                "refused for its content",
                (.head(hasContent: true), "deadline content -> receiving"),
                (.refused, "deadline none -> refusing"),
                (.responseBegins(contentLeft: 1), "Connection: close -> respondingLast"),
                (.responseEnds(), linger)),
            Script(
                "refused without content", (.head(), "deadline none -> handling"),
                (.refused, "-> handling"), (.responseBegins(), "-> responding"),
                (.responseEnds(), next)),
        ])
    func refusedHead(_ script: Script) { script.run() }

    @Test(
        "The end of the peer's stream aborts incomplete requests and lets whole ones end",
        arguments: [
            Script("idle", (.peerEnds(), "close(clientClosed) -> idle")),
            Script(
                "in a head", (.partOfHead, "-> head"),
                (.peerEnds(.input), "close(connectionLost) -> head")),
            Script(
                "in content", (.head(hasContent: true), "deadline content -> receiving"),
                (.peerEnds(.output), "close(connectionLost) -> receiving")),
            Script(
                "after a request", (.head(), "deadline none -> handling"),
                (.peerEnds(), "-> handling"),
                (.responseBegins(), "Connection: close -> responding"), (.responseEnds(), close),
                (.outputSent, "close(finished) -> closing")),
            Script(
                "after two requests: the second answer is the last",
                (.head(), "deadline none -> handling"),
                (.peerEnds(.input, hasRequests: true), "-> handling"),
                (.responseBegins(), "-> responding"), (.responseEnds(.input), next),
                (.head(), "deadline none -> handling"),
                (.responseBegins(), "Connection: close -> responding"), (.responseEnds(), close)),
            Script(
                "while a large answer goes out: the next one is the last",
                (.head(), "deadline none -> handling"), (.responseBegins(), "-> responding"),
                (.responseEnds(.input), next), (.outputBlocked(), "deadline write -> idle"),
                (.peerEnds(.both, hasRequests: true), "-> idle"),
                (.outputSent, "deadline idle -> idle"), (.head(), "deadline none -> handling"),
                (.responseBegins(), "Connection: close -> responding"), (.responseEnds(), close)),
            Script(
                "while the only answer goes out", (.head(), "deadline none -> handling"),
                (.responseBegins(), "-> responding"), (.responseEnds(), next),
                (.outputBlocked(), "deadline write -> idle"), (.peerEnds(.output), "-> idle"),
                (.settled(.output), "-> idle"), (.settled(), "close(clientClosed) -> idle")),
            Script(
                "while the server waits for it", (.badHead, "deadline none -> refusing"),
                (.responseBegins(), "Connection: close -> respondingLast"),
                (.responseEnds(), linger), (.outputSent, "linger deadline linger -> lingering"),
                (.peerEnds(), "close(malformedRequest) -> lingering")),
            Script(
                "before the last answer is sent: there is nothing to wait for",
                (.badHead, "deadline none -> refusing"),
                (.responseBegins(), "Connection: close -> respondingLast"),
                (.responseEnds(), linger), (.peerEnds(.output), "-> closingUnread"),
                (.outputSent, "close(malformedRequest) -> closingUnread")),
        ])
    func peerEnds(_ script: Script) { script.run() }

    @Test(
        "A shutdown closes idle connections and lets busy ones end",
        arguments: [
            Script(
                "idle: a request may have come", (.serverStops(), "readOnce -> idle"),
                (.settled(), "close(shutdown) -> idle")),
            Script(
                "in a head", (.partOfHead, "-> head"),
                (.serverStops(.input), "close(shutdown) -> head")),
            Script(
                "busy", (.head(), "deadline none -> handling"), (.serverStops(), "-> handling"),
                (.responseBegins(), "Connection: close -> responding"), (.responseEnds(), close),
                (.outputSent, "close(shutdown) -> closing")),
            Script(
                "sending", (.head(), "deadline none -> handling"),
                (.responseBegins(), "-> responding"), (.responseEnds(), next),
                (.serverStops(.output), "-> idle"), (.settled(), "close(shutdown) -> idle")),
            Script(
                "discarding", (.head(hasContent: true), "deadline content -> receiving"),
                (.responseBegins(contentLeft: 1), "-> respondingEarly"), (.responseEnds(), discard),
                (.serverStops(), "-> discarding"),
                (.contentEnds(), "endInput deadline none -> closing")),
        ])
    func shutdown(_ script: Script) { script.run() }

    @Test(
        "Waiting output has a deadline; once it is sent, the previous deadline applies again",
        arguments: [
            Script(
                "idle", (.head(), "deadline none -> handling"),
                (.responseBegins(), "-> responding"),
                (.responseEnds(), next), (.outputBlocked(), "deadline write -> idle"),
                (.outputBlocked(), "-> idle"),
                (.outputBlocked(hasProgress: true), "deadline write -> idle"),
                (.outputSent, "deadline idle -> idle"), (.outputSent, "-> idle")),
            Script(
                "in a head", (.partOfHead, "-> head"), (.outputBlocked(), "deadline write -> head"),
                (.outputSent, "deadline head -> head")),
            Script(
                "in content", (.head(hasContent: true), "deadline content -> receiving"),
                (.responseBegins(contentLeft: 1), "-> respondingEarly"),
                (.outputBlocked(), "deadline write -> respondingEarly"),
                (.outputSent, "deadline content -> respondingEarly")),
            Script(
                "streaming", (.head(), "deadline none -> handling"),
                (.responseBegins(), "-> responding"),
                (.outputBlocked(), "deadline write -> responding"),
                (.outputSent, "deadline none -> responding")),
            Script(
                "missed", (.outputBlocked(), "deadline write -> idle"),
                (.deadline, "close(timedOut: write) -> idle")),
        ])
    func outputDeadline(_ script: Script) { script.run() }

    @Test("9.6: After bytes that follow the last request, the connection lingers before it closes")
    func droppedBytes() {
        var state = ConnectionState(after: [
            .head(isPersistent: false), .responseBegins(), .responseEnds(),
        ])
        #expect(state.take(.bytesDropped(64 << 10)) == "-> closingUnread")
        #expect(state.takesInput)
        _ = state.take(.bytesDropped(1))
        #expect(!state.takesInput)
        #expect(state.take(.outputSent) == "linger deadline linger -> lingering")
        // From here on the way the peer leaves does not change the reason.
        let reason = state.close(.connectionLost)
        #expect(reason == .finished)
        let again = state.close(.connectionLost)
        #expect(again == nil)
    }

    @Test("No event reopens a closed connection")
    func closed() {
        for phase in ConnectionState.Phase.allCases {
            for event in ConnectionTable.allEvents {
                var state = ConnectionState(after: ConnectionTable.events(to: phase))
                _ = state.close(.shutdown)
                _ = state.take(event)
                #expect(state.phase == .closed, "\(event)")
            }
        }
    }

    @Test("RFC 9110, 15.2: Interim responses come before the final one, and not to HTTP/1.0")
    func interim() {
        #expect(!ConnectionState().takesInterim)
        #expect(ConnectionState(after: [.head()]).takesInterim)
        #expect(ConnectionState(after: [.head(hasContent: true)]).takesInterim)
        #expect(!ConnectionState(after: [.head(version: .http10)]).takesInterim)
        #expect(!ConnectionState(after: [.head(), .responseBegins()]).takesInterim)
        #expect(!ConnectionState(after: [.badHead]).takesInterim)
    }
}
