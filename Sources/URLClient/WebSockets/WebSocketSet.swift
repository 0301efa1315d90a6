/// The WebSockets of a loop. Only the thread in the loop uses it.
@safe
final class WebSocketSet {
    private var runners: [ObjectIdentifier: any WebSocketMember] = [:]
    private var made: UnsafeMutableRawBufferPointer?

    deinit {
        unsafe made?.deallocate()
    }

    /// The memory that receives input of one of them at a time.
    var room: UnsafeMutableRawBufferPointer {
        if let made = unsafe made { return unsafe made }
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        unsafe made = unsafe room
        return unsafe room
    }

    var isEmpty: Bool { runners.isEmpty }

    func insert(_ runner: any WebSocketMember) { runners[ObjectIdentifier(runner)] = runner }

    func remove(_ runner: any WebSocketMember) { runners[ObjectIdentifier(runner)] = nil }

    func checkDeadlines() {
        for runner in Array(runners.values) { runner.checkDeadlines() }
    }

    func cancelAll() {
        for runner in runners.values { runner.cancel() }
    }
}

/// A WebSocket as its loop knows it.
protocol WebSocketMember: AnyObject {
    /// Looks at the deadlines.
    func checkDeadlines()
    /// Ends the connection at once.
    func cancel()
}
