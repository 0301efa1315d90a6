import ArgumentParser
import HTTPCodecs
import HTTPParser
internal import ToolkitSystem
import URLClient

/// Flags of curl that concern the way to the server: a proxy, netrc users, and retries.
struct FetchReachOptions: ParsableArguments {
    @Option(
        name: [.customShort("x"), .long],
        help: ArgumentHelp(
            "Use a proxy: http, https, socks4, socks4a, socks5 or socks5h.",
            valueName: "[scheme://][user:password@]host[:port]"))
    var proxy: String?

    @Option(
        help: ArgumentHelp(
            "How often to retry after a failure of the network, 408, 429, 500 and 502 to 504.",
            discussion: """
                The first wait is one second; each further wait is twice as long, or that of \
                Retry-After. Requests that must not be sent twice, such as POST, are retried only \
                if nothing was sent. A broken download to a file resumes where it stopped: \
                immediately, and then as often and with the same waits. With 6 the server may be \
                unavailable for half a minute. Without this flag such a download is resumed for 3 \
                to 6 seconds, and other requests are retried only once, after a broken connection.
                """, valueName: "n"))
    var retry: Int?

    @Flag(
        name: .shortAndLong,
        help: "Read users and passwords from ~/.netrc, unless --user or the URL has them.")
    var netrc = false

    @Option(
        help: ArgumentHelp("Read users and passwords from FILE; see netrc(5).", valueName: "file"))
    var netrcFile: String?

    @Flag(
        name: [.customShort("L"), .customLong("location")],
        help: "Accepted for command lines of curl; redirects are always followed.")
    var followsRedirects = false

    func validate() throws {
        if let retry, !(0...1_000_000).contains(retry) {
            throw ValidationError("--retry takes a number")
        }
        if let proxy { _ = try Self.proxy(proxy) }
    }

    func apply(to configuration: inout ClientConfiguration, hasUser: Bool) throws {
        if let proxy { configuration.proxy = .proxy(try Self.proxy(proxy)) }
        if let retry {
            configuration.retries = Self.policy(retry)
            // The first continuation follows immediately, and does not count as a retry.
            configuration.downloadContinuations = retry + 1
        }
        guard let path = netrcPath, !hasUser else { return }
        let users = try Netrc(file: path)
        configuration.authentication.challenge = { challenge in
            guard !challenge.space.isProxy, challenge.space.scheme != .bearer else {
                return .useProposed
            }
            // The user of the URL or of the file gets one attempt.
            guard challenge.failureCount == 0 else { return .reject }
            var name: String?
            if case .password(let known, let password)? = challenge.proposed {
                // The URL has a user name without a password, which the file may have.
                guard password.isEmpty else { return .useProposed }
                name = known
            }
            guard let user = users.user(of: challenge.space.origin.host, named: name) else {
                return .useProposed
            }
            return .use(.password(user: user.name, password: user.password))
        }
    }

    private var netrcPath: String? {
        if let netrcFile { return netrcFile }
        guard netrc, let home = Syscalls.environment("HOME"), !home.isEmpty else { return nil }
        return home + "/.netrc"
    }

    private static func policy(_ count: Int) -> RetryPolicy {
        var policy = RetryPolicy()
        policy.limit = count
        policy.retriesConnecting = true
        (policy.firstDelay, policy.longestDelay) = (.seconds(1), .seconds(600))
        policy.statuses = [
            .requestTimeout, .tooManyRequests, .internalServerError, .badGateway,
            .serviceUnavailable, .gatewayTimeout,
        ]
        policy.retriesWithoutRetryAfter = true
        policy.longestRetryAfter = .seconds(600)
        return policy
    }

    /// `[scheme://][user:password@]host[:port]`; a user and a password are percent-encoded.
    static func proxy(_ text: String) throws -> ClientProxy {
        let refusal = ValidationError("--proxy takes [SCHEME://]HOST[:PORT], got \(text)")
        var rest = text[...]
        var kind = ClientProxy.Kind.http
        if let separator = rest.firstRange(of: "://") {
            guard let named = ClientProxy.Kind(rawValue: rest[..<separator.lowerBound].lowercased())
            else { throw refusal }
            kind = named
            rest = rest[separator.upperBound...]
        }
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        var user: String?
        var password: String?
        if let sign = rest.lastIndex(of: "@") {
            let parts = rest[..<sign].split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            do {
                user = try PercentEncoding.decode(String(parts[0]))
                password = parts.count > 1 ? try PercentEncoding.decode(String(parts[1])) : ""
            } catch {
                throw refusal
            }
            rest = rest[rest.index(after: sign)...]
        }
        guard let (host, port) = hostAndPort(rest) else { throw refusal }
        return ClientProxy(
            kind, host: host, port: port ?? (kind == .https ? 443 : 1_080), user: user,
            password: password)
    }

    private static func hostAndPort(_ text: Substring) -> (String, UInt16?)? {
        var text = text
        var host: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            text = text[text.index(after: end)...]
        } else {
            host = text.prefix { $0 != ":" }
            text = text.dropFirst(host.count)
        }
        guard !host.isEmpty, !host.contains("/"), !host.contains(" ") else { return nil }
        if text.isEmpty { return (String(host), nil) }
        let digits = text.dropFirst()
        guard text.first == ":", digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
            let port = UInt16(digits), port > 0
        else { return nil }
        return (String(host), port)
    }
}
