public import HTTPServerCore

/// Follows a `BackgroundPolicy` for one server: receives events of the app and the server, and
/// suspends and resumes the server.
///
/// It uses no platform API: the app reports events with `handle`, and passes two closures that
/// begin and end background tasks. An app extension passes other closures, because it has no
/// application object. Failures are events of the server (`HTTPServer.Event.failed`).
public final class BackgroundSupervisor: Sendable {
    /// The closures that keep the app running in the background for a while.
    public struct Tasks: Sendable {
        /// Begins a background task.
        ///
        /// Its argument must be called when the time is over. It returns an identifier of the task,
        /// or `nil` if the system grants none.
        public var begin: @Sendable (_ expired: @escaping @Sendable () -> Void) async -> Int?
        /// Ends the task with this identifier.
        public var end: @Sendable (_ task: Int) async -> Void

        /// - Parameters:
        ///   - begin: begins a background task; see the property.
        ///   - end: ends the task with the identifier that `begin` returned.
        public init(
            begin: @escaping @Sendable (_ expired: @escaping @Sendable () -> Void) async -> Int?,
            end: @escaping @Sendable (_ task: Int) async -> Void
        ) {
            self.begin = begin
            self.end = end
        }
    }

    private let inputs: AsyncStream<BackgroundPolicy.Input>.Continuation
    private let work: [Task<Void, Never>]

    /// Begins to follow the policy.
    /// - Parameters:
    ///   - server: the server, which may be started before or later.
    ///   - isInBackground: whether the app is in the background now.
    ///   - tasks: the closures that keep the app running.
    public init(_ server: HTTPServer, isInBackground: Bool = false, tasks: Tasks) {
        let (stream, inputs) = AsyncStream.makeStream(of: BackgroundPolicy.Input.self)
        self.inputs = inputs
        let events = server.events
        let policy = BackgroundPolicy(isInBackground: isInBackground)
        // Sent as an input, because it begins a task, too. Later events come after it.
        if server.hasReportedClient { inputs.yield(.connected) }
        let listening = Task {
            for await event in events {
                switch event {
                case .connected: inputs.yield(.connected)
                case .disconnected: inputs.yield(.disconnected)
                default: break
                }
            }
        }
        let acting = Task { [weak server] in
            var doer = Doer(policy: policy, tasks: tasks, inputs: inputs)
            for await input in stream {
                guard let server else { break }
                await doer.handle(input, server)
            }
            await doer.end()
        }
        work = [listening, acting]
    }

    deinit { stop() }

    /// Reports an event of the app; from any thread, without waiting.
    public func handle(_ input: BackgroundPolicy.Input) {
        inputs.yield(input)
    }

    /// Stops following the policy. Ends a held background task; the server stays as it is.
    public func stop() {
        inputs.finish()
        work[0].cancel()
    }

    /// Handles one input after another, each with all its actions.
    private struct Doer {
        var policy: BackgroundPolicy
        let tasks: Tasks
        let inputs: AsyncStream<BackgroundPolicy.Input>.Continuation
        var task: Int?

        mutating func handle(_ input: BackgroundPolicy.Input, _ server: HTTPServer) async {
            for action in policy.handle(input) { await take(action, server) }
        }

        private mutating func take(
            _ action: BackgroundPolicy.Action, _ server: HTTPServer
        ) async {
            switch action {
            case .beginTask:
                task = await tasks.begin { [inputs] in inputs.yield(.taskExpired) }
                if task == nil { inputs.yield(.taskRefused) }
            case .endTask: await end()
            case .suspend: await server.suspend(connections: .close)
            case .resume:
                do throws(ListenError) {
                    try await server.resume()
                    inputs.yield(.resumed)
                } catch .serverStopped {
                    // The app has not started the server, or has shut it down: it stays stopped.
                } catch {
                    inputs.yield(.resumeFailed)
                }
            }
        }

        mutating func end() async {
            if let task { await tasks.end(task) }
            task = nil
        }
    }
}
