/// Decides when a server in an app asks for background time, is suspended and is resumed. It is a
/// value: events of the app and the server go in, actions come out.
///
/// While a client is connected the app holds a background task, so that transfers continue when it
/// leaves the foreground; today systems grant some thirty seconds. Without connections in the
/// background, or when the time is over, the server is suspended, because the system is about to
/// freeze the app and close its sockets. In the foreground it is resumed, at the same port.
///
/// It uses no platform API; `BackgroundSupervisor` performs the actions.
public struct BackgroundPolicy: Hashable, Sendable {
    /// An event of the app.
    public enum Input: Hashable, Sendable {
        /// The app has left the foreground.
        case enteredBackground
        /// The app is about to return to the foreground.
        case willEnterForeground
        /// The app is active and receives events.
        case becameActive
        /// The time of the background task is over.
        case taskExpired
        /// The system did not grant a background task.
        case taskRefused
        /// The first connection was opened.
        case connected
        /// The last connection was closed.
        case disconnected
        /// The server listens again.
        case resumed
        /// The server could not be resumed.
        case resumeFailed
    }

    /// The actions. They are performed in the returned order, each after the previous one is done.
    public enum Action: Hashable, Sendable {
        /// Ask the system to let the app run in the background.
        case beginTask
        /// End the background task.
        case endTask
        /// Suspend the server and close its connections.
        case suspend
        /// Resume the server; if it was not suspended, check that its sockets are alive.
        case resume
    }

    /// Whether the app is in the background.
    public private(set) var isInBackground: Bool
    /// Whether a client is connected.
    public private(set) var isConnected: Bool
    /// Whether a background task is held.
    public private(set) var holdsTask = false
    /// Whether the server is to be suspended now.
    public private(set) var isSuspended = false
    private var mustRetry = false

    /// Creates the policy for the present state of an app and its server.
    /// - Parameters:
    ///   - isInBackground: whether the app is in the background.
    ///   - isConnected: whether a client is connected.
    public init(isInBackground: Bool = false, isConnected: Bool = false) {
        self.isInBackground = isInBackground
        self.isConnected = isConnected
    }

    /// Handles an event.
    /// - Returns: the actions to perform.
    public mutating func handle(_ input: Input) -> [Action] {
        switch input {
        case .enteredBackground: return enterBackground()
        case .willEnterForeground: return enterForeground()
        case .becameActive: return becomeActive()
        case .taskExpired: return expire()
        case .taskRefused: return refuse()
        case .connected:
            isConnected = true
            return isInBackground ? [] : begin()
        case .disconnected:
            isConnected = false
            return endConnections()
        case .resumed: mustRetry = false
        case .resumeFailed: mustRetry = true
        }
        return []
    }

    private mutating func begin() -> [Action] {
        if holdsTask { return [] }
        holdsTask = true
        return [.beginTask]
    }

    private mutating func end() -> [Action] {
        guard holdsTask else { return [] }
        holdsTask = false
        return [.endTask]
    }

    private mutating func suspend() -> [Action] {
        if isSuspended { return [] }
        isSuspended = true
        return [.suspend]
    }

    private mutating func enterBackground() -> [Action] {
        isInBackground = true
        if isSuspended || (isConnected && holdsTask) { return [] }
        // The task covers the time that closing takes: the app might be frozen in the middle.
        return begin() + suspend() + end()
    }

    private mutating func enterForeground() -> [Action] {
        isInBackground = false
        isSuspended = false
        return [.resume] + (isConnected ? begin() : [])
    }

    /// Not every return to the foreground passes through `willEnterForeground`.
    private mutating func becomeActive() -> [Action] {
        isInBackground || mustRetry ? enterForeground() : []
    }

    private mutating func endConnections() -> [Action] {
        isInBackground ? (isSuspended ? [] : suspend()) + end() : end()
    }

    private mutating func expire() -> [Action] {
        guard holdsTask else { return [] }
        if isInBackground { return suspend() + end() }
        // The app has returned meanwhile: its next time in the background needs another task.
        return end() + (isConnected ? begin() : [])
    }

    private mutating func refuse() -> [Action] {
        holdsTask = false
        return isInBackground ? suspend() : []
    }
}
