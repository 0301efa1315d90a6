import HTTPServerCore

/// All events in all states, as Markdown.
struct ConnectionTable {
    /// An event in one state, and the next state.
    struct Row: Equatable {
        var phase: String
        var event: String
        var condition: String
        var answer: String
        var next: String
    }

    /// The circumstances before the event.
    private struct Past {
        var isPersistent = true
        var expectsContinue = false
        var then: [ConnectionEvent] = []
        var label = ""
    }

    private struct Entry {
        var event: String
        var phases: [ConnectionState.Phase]
        var cases: [(past: Past, event: ConnectionEvent)]
    }

    /// `ConnectionState.swift`, whose comments explain the states.
    let source: String

    // MARK: The ways into each state

    private static func events(
        to phase: ConnectionState.Phase, _ past: Past
    ) -> [ConnectionEvent] {
        let head = ConnectionEvent.head(isPersistent: past.isPersistent)
        let upload = ConnectionEvent.head(
            isPersistent: past.isPersistent, hasContent: true,
            expectsContinue: past.expectsContinue)
        let early = [upload, .responseBegins(contentLeft: 1)]
        let last = [ConnectionEvent.badHead, .responseBegins()]
        return switch phase {
        case .idle: [head, .responseBegins(), .responseEnds()]
        case .head: [.partOfHead]
        case .receiving: [upload]
        case .handling: [head]
        case .respondingEarly: early
        case .responding: [head, .responseBegins()]
        case .discarding: early + [.responseEnds()]
        case .refusing: [.badHead]
        case .respondingLast: last
        case .closing: [.head(isPersistent: false), .responseBegins(), .responseEnds()]
        case .closingUnread: [.head(isPersistent: false), .responseBegins(), .responseEnds(.input)]
        case .lingering: last + [.responseEnds(), .outputSent]
        case .upgraded: [head, .upgrades]
        case .closed: []
        }
    }

    /// The events that lead from the beginning to a state.
    static func events(to phase: ConnectionState.Phase) -> [ConnectionEvent] {
        events(to: phase, Past())
    }

    // MARK: The events

    /// Each event that does not begin a request.
    static var allEvents: [ConnectionEvent] {
        entries.filter { $0.phases != [.idle] && $0.phases != reading }
            .flatMap { $0.cases.map(\.event) }
    }

    private static let reading: [ConnectionState.Phase] = [.idle, .head]
    private static let content: [ConnectionState.Phase] = [
        .receiving, .respondingEarly, .discarding,
    ]
    private static let open = ConnectionState.Phase.allCases.filter { $0 != .closed }
    private static let before = open.filter { $0 != .lingering }

    private static let entries = [
        Entry(event: "part of a head comes", phases: [.idle], cases: [(Past(), .partOfHead)]),
        Entry(
            event: "a head comes, content follows", phases: reading,
            cases: [
                (Past(label: "without Expect"), .head(hasContent: true)),
                (
                    Past(label: "with Expect: 100-continue"),
                    .head(hasContent: true, expectsContinue: true)
                ),
            ]),
        Entry(
            event: "a head comes, no content follows", phases: reading, cases: [(Past(), .head())]),
        Entry(event: "a head is ill-formed", phases: reading, cases: [(Past(), .badHead)]),
        Entry(
            event: "the request is refused by its head", phases: [.receiving, .handling],
            cases: [
                (Past(), .refused)
            ]),
        Entry(
            event: "a handler waits for content", phases: [.receiving, .respondingEarly],
            cases: [
                (Past(label: "without Expect"), .contentWanted),
                (Past(expectsContinue: true, label: "with Expect: 100-continue"), .contentWanted),
            ]),
        Entry(
            event: "the content ends", phases: content,
            cases: [
                (Past(label: "usually"), .contentEnds()),
                (Past(then: [.serverStops()], label: "the server stops"), .contentEnds()),
            ]),
        Entry(
            event: "the content is ill-formed", phases: content, cases: [(Past(), .contentFails)]),
        Entry(
            event: "the content is too slow", phases: content, cases: [(Past(), .contentTooSlow)]),
        Entry(
            event: "the response begins", phases: [.receiving, .handling, .refusing],
            cases: [
                (Past(label: "usually"), .responseBegins(contentLeft: 1)),
                (
                    Past(isPersistent: false, label: "the client asked to close"),
                    .responseBegins(contentLeft: 1)
                ),
                (Past(label: "too much content is left"), .responseBegins(contentLeft: nil)),
                (
                    Past(expectsContinue: true, label: "the client waits for 100"),
                    .responseBegins(contentLeft: 1)
                ),
                (
                    Past(then: [.peerEnds()], label: "no request can follow"),
                    .responseBegins(contentLeft: 1)
                ),
                (
                    Past(then: [.serverStops()], label: "the server stops"),
                    .responseBegins(contentLeft: 1)
                ),
            ]),
        Entry(
            event: "the response ends", phases: [.respondingEarly, .responding, .respondingLast],
            cases: [
                (Past(label: "the connection persists"), .responseEnds()),
                (Past(isPersistent: false, label: "it closes"), .responseEnds()),
                (
                    Past(isPersistent: false, label: "it closes, input is unread"),
                    .responseEnds(.input)
                ),
            ]),
        Entry(
            event: "the handler hands the connection to another protocol",
            phases: [.receiving, .handling, .responding],
            cases: [
                (Past(label: "usually"), .upgrades),
                (Past(then: [.peerEnds()], label: "the peer has ended its stream"), .upgrades),
            ]),
        Entry(
            event: "the other protocol ends", phases: [.upgraded],
            cases: [
                (Past(label: "usually"), .upgradeEnds()),
                (Past(label: "the peer may still send"), .upgradeEnds(leavesInput: true)),
            ]),
        Entry(
            event: "the other protocol moves its deadline", phases: [.upgraded],
            cases: [
                (Past(label: "usually"), .upgradeDeadlineMoves),
                (Past(then: [.outputBlocked()], label: "output waits"), .upgradeDeadlineMoves),
            ]),
        Entry(
            event: "the peer takes no output", phases: before, cases: [(Past(), .outputBlocked())]),
        Entry(
            event: "all output is sent", phases: before,
            cases: [
                (Past(label: "usually"), .outputSent),
                (Past(then: [.outputBlocked()], label: "it had to wait"), .outputSent),
                (
                    Past(then: [.peerEnds(.output)], label: "the peer has ended its stream"),
                    .outputSent
                ),
            ]),
        Entry(
            event: "bytes are dropped",
            phases: [.refusing, .respondingLast, .closing, .closingUnread, .lingering],
            cases: [(Past(), .bytesDropped())]),
        Entry(
            event: "the peer ends its stream", phases: open,
            cases: [
                (Past(label: "nothing waits"), .peerEnds()),
                (Past(label: "requests wait"), .peerEnds(.input, hasRequests: true)),
                (Past(label: "output waits"), .peerEnds(.output)),
            ]),
        Entry(
            event: "input and output come to rest", phases: reading,
            cases: [
                (
                    Past(then: [.peerEnds(.output)], label: "the peer has ended its stream"),
                    .settled()
                ),
                (Past(then: [.serverStops(.output)], label: "the server stops"), .settled()),
            ]),
        Entry(
            event: "the server stops", phases: open,
            cases: [
                (Past(label: "nothing waits"), .serverStops()),
                (Past(label: "output waits"), .serverStops(.output)),
            ]),
        Entry(event: "the deadline passes", phases: open, cases: [(Past(), .deadline)]),
        Entry(
            event: "the deadline of output passes", phases: before,
            cases: [(Past(then: [.outputBlocked()]), .deadline)]),
        Entry(event: "the peer is gone", phases: open, cases: [(Past(), .peerLost())]),
    ]

    // MARK: Rows

    static let rows = ConnectionState.Phase.allCases.flatMap { phase in
        entries.filter { $0.phases.contains(phase) }.flatMap { rows($0, in: phase) }
    }

    /// The rows of one event in one state; conditions with the same outcome share a row.
    private static func rows(_ entry: Entry, in phase: ConnectionState.Phase) -> [Row] {
        var found: [Row] = []
        for (past, event) in entry.cases {
            var state = ConnectionState(after: events(to: phase, past) + past.then)
            guard state.phase == phase else { continue }
            let answer = state.answer(to: event)
            let closes = answer.first?.hasPrefix("close(") == true
            let row = Row(
                phase: "\(phase)", event: entry.event, condition: past.label,
                answer: answer.joined(separator: ", "), next: closes ? "closed" : "\(state.phase)")
            if let same = found.firstIndex(where: { $0.answer == row.answer && $0.next == row.next }
            ) {
                found[same].condition += "; \(past.label)"
            } else {
                found.append(row)
            }
        }
        if found.count == 1 { found[0].condition = "" }
        return found.filter { !$0.answer.isEmpty || $0.next != $0.phase }
    }

    // MARK: Markdown

    var document: String {
        """
        # The states of a connection

        `ConnectionTableTests` writes this page from `ConnectionState.swift` with `UPDATE_DOCS=1`, and
        fails when it is stale. An event that a state does not list changes nothing there. `closed` has
        no exits.

        The names in the third column are those of `ConnectionState.Action`; `deadline` sets the event
        that the connection waits for from now on.

        ```mermaid
        stateDiagram-v2
            [*] --> idle
        \(diagram)
        ```

        | State | Meaning |
        |---|---|
        \(ConnectionState.Phase.allCases.map { "| `\($0)` | \(meaning(of: "\($0)")) |" }.joined(separator: "\n"))

        """ + ConnectionState.Phase.allCases.filter { $0 != .closed }.map(section).joined()
    }

    private var diagram: String {
        var labels: [(edge: String, events: [String])] = []
        for row in Self.rows where row.next != row.phase && row.next != "closed" {
            let edge = "    \(row.phase) --> \(row.next)"
            guard let known = labels.firstIndex(where: { $0.edge == edge }) else {
                labels.append((edge, [row.event]))
                continue
            }
            if !labels[known].events.contains(row.event) { labels[known].events.append(row.event) }
        }
        for phase in ["closing", "closingUnread", "lingering"] {
            labels.append(("    \(phase) --> closed", []))
        }
        return labels.map { label in
            label.events.isEmpty
                ? label.edge : label.edge + " : " + label.events.joined(separator: "<br>")
        }.joined(separator: "\n")
    }

    private func section(_ phase: ConnectionState.Phase) -> String {
        let lines = Self.rows.filter { $0.phase == "\(phase)" }.map { row in
            "| \(row.event) | \(row.condition) | \(row.answer) | `\(row.next)` |"
        }
        return "\n## \(phase)\n\n| Event | If | Action | Next |\n|---|---|---|---|\n"
            + lines.joined(separator: "\n") + "\n"
    }

    /// The comment of a case of `ConnectionState.Phase`.
    private func meaning(of phase: String) -> String {
        var comment: [Substring] = []
        for line in source.split(separator: "\n") {
            let text = line.drop { $0 == " " }
            if text == "case \(phase)" { return comment.joined(separator: " ") }
            if text.hasPrefix("/// ") { comment.append(text.dropFirst(4)) } else { comment = [] }
        }
        return ""
    }
}
