internal import HTTPParser
public import HTTPServerCore
internal import Logging
internal import ToolkitSystem

/// Answers only requests for known hosts, as a guard against DNS rebinding. All other requests get
/// 421, whatever their method (RFC 9110 section 15.5.20).
///
/// A request without a host, which only HTTP/1.0 allows, passes: no browser sends one.
///
/// Each refusal is logged as a warning with the host, escaped, and the setting that makes hosts
/// known. At most ten lines a minute are logged; the next line has the number of omitted ones. The
/// answer names the setting, but not the host.
public struct HostCheckHandler: Handler {
    private let inner: any Handler
    private let hosts: AllowedHosts
    private let setting: String
    private let allowance = LogAllowance(limit: 10, period: 60_000_000_000)
    private let clock: @Sendable () -> UInt64

    /// Creates a handler.
    /// - Parameters:
    ///   - handler: the inner handler.
    ///   - hosts: the names under which the server is reached.
    ///   - setting: the name of the program's setting that makes hosts known, such as a flag of its
    ///     command line. It appears in the answers to clients.
    public init(
        _ handler: some Handler, hosts: AllowedHosts = AllowedHosts(),
        setting: String = "AllowedHosts"
    ) {
        self.init(handler, hosts: hosts, setting: setting, clock: { Syscalls.monotonic() })
    }

    /// Creates a handler with another clock in nanoseconds. Tests use it.
    package init(
        _ handler: some Handler, hosts: AllowedHosts, setting: String,
        clock: @escaping @Sendable () -> UInt64
    ) {
        inner = handler
        self.hosts = hosts
        self.setting = setting
        self.clock = clock
    }

    /// Refuses an unknown host with 421; otherwise answers with the inner handler's answer.
    public func answer(_ request: Request) throws -> Answer {
        try check(request)
        return try inner.answer(request)
    }

    private func check(_ request: Request) throws(HTTPError) {
        // Fast path: most requests to a local server name its address.
        if hosts.allowsAddresses, request.hostIsAddress { return }
        guard let host = request.host, !hosts.contains(host) else { return }
        log(host, of: request)
        throw HTTPError(
            .misdirectedRequest, "this server does not know that host; \(setting) makes it known")
    }

    private func log(_ host: String, of request: Request) {
        guard let omitted = allowance.take(now: clock()) else { return }
        // The host is the peer's text: escape control characters and limit the length in the log.
        let text = host.unicodeScalars.prefix(256).map { $0.escaped(asASCII: true) }.joined()
        request.logger.warning(
            "refused an unknown host; \(setting) makes it known",
            metadata: omitted == 0
                ? ["host": "\(text)"] : ["host": "\(text)", "omitted": "\(omitted)"])
    }
}

/// Limits how many log lines peers can cause.
private final class LogAllowance: Sendable {
    private struct State: Sendable {
        var end: UInt64 = 0
        var lines = 0
        var omitted = 0
    }

    private let limit: Int
    private let period: UInt64
    private let state = Locked(State())

    /// - Parameters:
    ///   - limit: the most lines in a period.
    ///   - period: the length of a period in nanoseconds. It begins with its first line.
    init(limit: Int, period: UInt64) {
        self.limit = limit
        self.period = period
    }

    /// Asks whether a line may be logged.
    /// - Parameter now: the time of a monotonic clock, in nanoseconds.
    /// - Returns: how many lines were omitted since the last one; `nil` to omit this line, too.
    func take(now: UInt64) -> Int? {
        state.withLock { state in
            if now >= state.end { (state.end, state.lines) = (now &+ period, 0) }
            guard state.lines < limit else {
                state.omitted += 1
                return nil
            }
            state.lines += 1
            defer { state.omitted = 0 }
            return state.omitted
        }
    }
}
