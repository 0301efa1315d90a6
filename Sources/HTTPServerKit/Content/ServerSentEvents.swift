internal import HTTPParser
public import HTTPServerCore
internal import ToolkitSystem

/// One event of an event stream, as `EventSource` in browsers reads it (HTML Standard, section
/// 9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The data of the event; line breaks are kept.
    public var data: String
    /// The type for which listeners are registered; `nil` for `message`.
    public var name: String?
    /// The id that the client sends as Last-Event-ID when it reconnects; `nil` keeps the last id.
    public var id: String?
    /// How long the client waits before it reconnects; `nil` keeps the last value.
    public var retry: Duration?

    /// Creates an event.
    /// - Parameters:
    ///   - data: the data of the event.
    ///   - name: the type; it ends at a line break.
    ///   - id: the identifier; it ends at a line break. Clients ignore an id with NUL.
    ///   - retry: how long the client waits before it reconnects, in whole milliseconds.
    public init(_ data: String, name: String? = nil, id: String? = nil, retry: Duration? = nil) {
        self.data = data
        self.name = name
        self.id = id
        self.retry = retry
    }

    /// The event in the form that is sent.
    public var text: String {
        var text = ""
        if let name { text += "event: \(Self.line(name))\n" }
        if let id { text += "id: \(Self.line(id))\n" }
        if let retry { text += "retry: \(retry.nanoseconds / 1_000_000)\n" }
        var rest: Substring.UTF8View? = data.utf8[...]
        while let bytes = rest {
            let line = bytes.prefix { !Self.isBreak($0) }
            text += "data: \(Substring(line))\n"
            rest = Self.dropBreak(bytes[line.endIndex...])
        }
        return text + "\n"
    }

    // Compares bytes: comparing characters with very many combining marks is slow.
    private static func isBreak(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    }

    /// The bytes after a line break, which CR LF counts as; `nil` at the end.
    private static func dropBreak(_ bytes: Substring.UTF8View) -> Substring.UTF8View? {
        guard !bytes.isEmpty else { return nil }
        return bytes.starts(with: "\r\n".utf8) ? bytes.dropFirst(2) : bytes.dropFirst()
    }

    /// A field is one line: text after a line break must not become another field.
    private static func line(_ text: String) -> Substring {
        Substring(text.utf8.prefix { !isBreak($0) })
    }
}

extension Response {
    /// A response that streams events, each sent as soon as it arrives. When the client
    /// disconnects, the iteration is cancelled.
    /// - Parameters:
    ///   - events: the events; the response ends with them.
    ///   - interval: how often a comment is sent, above zero. The comments reveal that a client
    ///     has disconnected while there are no events.
    public static func events<Events: AsyncSequence & Sendable>(
        _ events: Events, commentInterval interval: Duration = .seconds(15)
    ) -> Response where Events.Element == ServerSentEvent {
        precondition(interval > .zero, "commentInterval must be above zero")
        let body = ResponseBody.stream(mediaType: "text/event-stream") { writer in
            // A long event is compressed in parts, and no comment may be written between them.
            let isWriting = Locked(false)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    while true {
                        try await Task.sleep(for: interval)
                        if !isWriting.withLock({ $0 }) { try await writer.write(":\n\n") }
                    }
                }
                for try await event in events {
                    isWriting.withLock { $0 = true }
                    try await writer.write(event.text)
                    isWriting.withLock { $0 = false }
                }
                group.cancelAll()
            }
        }
        return Response(fields: [.cacheControl: "no-cache"], body: body)
    }
}
