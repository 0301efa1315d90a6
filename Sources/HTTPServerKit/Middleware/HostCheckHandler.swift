internal import HTTPParser
public import HTTPServerCore
internal import Logging
internal import ToolkitSystem

/// Answers only requests for hosts that the program knows, as a guard against DNS rebinding; all
/// others are 421, whatever their method (RFC 9110 section 15.5.20).
///
/// A request without a host, which only HTTP/1.0 allows, is let through: no browser sends one.
///
/// A refusal is a warning in the log with the host, escaped, and the setting that makes it known:
/// ten lines a minute at most; the next one tells how many were left out. The answer names
/// the setting, but not the host.
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
    ///     command line; clients see it.
    public init(
        _ handler: some Handler, hosts: AllowedHosts = AllowedHosts(),
        setting: String = "AllowedHosts"
    ) {
        self.init(handler, hosts: hosts, setting: setting, clock: { Syscalls.monotonic() })
    }

    /// The same with a clock of nanoseconds; tests use it.
    package init(
        _ handler: some Handler, hosts: AllowedHosts, setting: String,
        clock: @escaping @Sendable () -> UInt64
    ) {
        inner = handler
        self.hosts = hosts
        self.setting = setting
        self.clock = clock
    }

    /// Refuses, or answers by the handler.
    public func answer(_ request: Request) throws -> Answer {
        try check(request)
        return try inner.answer(request)
    }

    private func check(_ request: Request) throws(HTTPError) {
        // The usual host of a local server.
        if hosts.allowsAddresses, request.hostIsAddress { return }
        guard let host = request.host, !hosts.contains(host) else { return }
        log(host, of: request)
        throw HTTPError(
            .misdirectedRequest, "this server does not know that host; \(setting) makes it known")
    }

    private func log(_ host: String, of request: Request) {
        guard let omitted = allowance.take(now: clock()) else { return }
        // The host is the peer's text: a log must show no control characters, and nothing endless.
        let text = host.unicodeScalars.prefix(256).map { $0.escaped(asASCII: true) }.joined()
        request.logger.warning(
            "refused an unknown host; \(setting) makes it known",
            metadata: omitted == 0
                ? ["host": "\(text)"] : ["host": "\(text)", "omitted": "\(omitted)"])
    }
}

/// Bounds how many lines of a log peers can cause.
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
    ///   - limit: how many lines a period has at most.
    ///   - period: nanoseconds, which begin with the first line.
    init(limit: Int, period: UInt64) {
        self.limit = limit
        self.period = period
    }

    /// Asks for a line.
    /// - Parameter now: nanoseconds of a clock that only goes forward.
    /// - Returns: how many lines were left out since the last one; `nil` to leave this one out, too.
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
