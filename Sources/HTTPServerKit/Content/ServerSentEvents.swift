internal import HTTPParser
public import HTTPServerCore

/// One event of an event stream, as `EventSource` in browsers reads it (HTML Standard, section
/// 9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The data of the event; line breaks are kept.
    public var data: String
    /// The type that listeners ask for; `nil` for `message`.
    public var name: String?
    /// The id that the client sends as Last-Event-ID when it reconnects; `nil` to leave it as it
    /// was.
    public var id: String?
    /// How long the client waits before it comes back; `nil` to leave it as it was.
    public var retry: Duration?

    /// Creates an event.
    /// - Parameters:
    ///   - data: what happened.
    ///   - name: the type; it ends at a line break.
    ///   - id: the identifier; one with NUL is ignored by clients, and it ends at a line break.
    ///   - retry: how long the client waits before it comes back, in whole milliseconds.
    public init(_ data: String, name: String? = nil, id: String? = nil, retry: Duration? = nil) {
        self.data = data
        self.name = name
        self.id = id
        self.retry = retry
    }

    /// The event as it is sent.
    public var text: String {
        var text = ""
        if let name { text += "event: \(Self.line(name))\n" }
        if let id { text += "id: \(Self.line(id))\n" }
        if let retry { text += "retry: \(retry.nanoseconds / 1_000_000)\n" }
        for line in data.split(omittingEmptySubsequences: false, whereSeparator: Self.isBreak) {
            text += "data: \(line)\n"
        }
        return text + "\n"
    }

    /// CR LF is one character.
    private static func isBreak(_ character: Character) -> Bool {
        character == "\n" || character == "\r" || character == "\r\n"
    }

    /// A field is one line: what a caller puts behind a line break must not become a field.
    private static func line(_ text: String) -> Substring {
        text.prefix { !isBreak($0) }
    }
}

extension Response {
    /// An endless response of events, each sent as soon as it is there. When the client goes away
    /// the iteration is cancelled.
    /// - Parameter events: the events; the response ends with them.
    public static func events<Events: AsyncSequence & Sendable>(
        _ events: Events
    ) -> Response where Events.Element == ServerSentEvent {
        let body = ResponseBody.stream(mediaType: "text/event-stream") { writer in
            for try await event in events { try await writer.write(event.text) }
        }
        return Response(fields: [.cacheControl: "no-cache"], body: body)
    }
}
