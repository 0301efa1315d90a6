public import HTTPParser
public import Logging

/// How a server listens, and what it allows its clients.
public struct ServerConfiguration: Sendable {
    /// Where to listen; each of them has to succeed.
    public var endpoints: [Endpoint]
    /// How many event loops serve connections; `nil` for one a core, at most 4.
    public var loops: Int?
    /// How many new connections the system keeps waiting.
    public var backlog = 1024
    /// How many connections may be open; above it new ones wait in the backlog. `nil` for 80 % of
    /// the descriptors the process may have.
    public var connectionLimit: Int?
    /// What heads, chunk extensions and trailers may have; see `ParserLimits`.
    public var parserLimits = ParserLimits.standard
    /// Departures from the standard that are forgiven; none by default.
    public var leniency: ParserLeniency = []
    /// Content of one request in bytes; above it 413. Handlers that collect content in memory
    /// have limits of their own.
    public var contentLimit: Int64 = 4 << 30
    /// Whether the content coding of requests, gzip or deflate, is taken off before handlers read
    /// the content; others are 415 then. `contentLimit` holds for both forms. A handler can read
    /// the coded form by `RequestBody.raw` all the same.
    public var decodesContent = true
    /// How many bytes a byte of coded content may stand for once they are more than 1 MiB; above
    /// it 413. Text rarely exceeds 20, a bomb comes near 1000.
    public var contentExpansionLimit: Int64 = 100
    /// How long the head of a request may take from its first byte, and the first request from
    /// the opening of the connection.
    public var headTimeout = Duration.seconds(10)
    /// How long a connection may be idle between two requests.
    public var idleTimeout = Duration.seconds(60)
    /// How long a client may take nothing of a response that waits for it.
    public var writeTimeout = Duration.seconds(30)
    /// Bytes a second below which content is too slow, judged after `contentGrace`.
    public var contentRate = 500
    /// How long content is not judged by its rate.
    public var contentGrace = Duration.seconds(10)
    /// How long `shutdown` lets running requests go on.
    public var shutdownGrace = Duration.seconds(10)
    /// The value of Server in each response; empty for none.
    public var serverName = defaultServerName
    /// The name of a server, and of the realm of its accounts, that was given no other.
    public static let defaultServerName = "swift-http-toolkit"
    /// Where the server says what it does. It is silent below `.warning` when nothing is wrong.
    public var logger = Logger(label: "http.server")
    /// Called for each response that ends, on the loop: it must not block.
    public var accessLog: (@Sendable (AccessRecord) -> Void)?

    /// Creates a configuration that listens at one host and port.
    /// - Parameters:
    ///   - host: a name or an address; `localhost` and `*` stand for both families.
    ///   - port: the port, 0 for any free one.
    public init(host: String = "localhost", port: UInt16 = 8080) {
        endpoints = [.tcp(host: host, port: port)]
    }

    var loopCount: Int { max(1, loops ?? min(Syscalls.activeProcessors(), 4)) }

    var openLimit: Int {
        connectionLimit ?? max(16, Syscalls.descriptorLimit() * 8 / 10)
    }
}

/// What is known of a request once its response has ended.
public struct AccessRecord: Sendable {
    /// Where the request came from.
    public var peer: SocketAddress
    /// Who sent it, once that was proved: the name in `Request.identity`.
    public var user: String?
    /// The method; empty when the head was unreadable.
    public var method: String
    /// The target as it stood on the wire; empty when the head was unreadable.
    public var target: String
    /// The version.
    public var version: HTTPVersion
    /// The status answered.
    public var status: HTTPStatus
    /// Bytes of content sent, framing left out.
    public var contentBytes: Int64
    /// From the end of the head to the end of the response.
    public var duration: Duration
    /// The value of Referer.
    public var referer: String?
    /// The value of User-Agent.
    public var userAgent: String?
    /// When the response ended.
    public var date: HTTPDate
    /// Whether the response went out whole.
    public var isComplete: Bool

    /// The line that web servers write by custom, "combined" format.
    public var combined: String {
        let request = method.isEmpty ? "-" : "\(method) \(target) \(version)"
        return """
            \(peer.host) - \(shownUser) [\(date.commonLog)] "\(escaped(request))" \(status.code) \
            \(contentBytes) "\(escaped(referer ?? "-"))" "\(escaped(userAgent ?? "-"))"
            """
    }

    /// The user as one word: blanks separate the parts of the line.
    private var shownUser: String {
        guard let user, !user.isEmpty else { return "-" }
        return escaped(user).replacing(" ", with: "\\x20")
    }

    /// What a client sent must not break the line or the quotes, nor steer a terminal.
    private func escaped(_ text: String) -> String {
        var line = ""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x22, 0x5C: line += "\\\(scalar)"
            case ..<0x20, 0x7F..<0xA0: line += "\\x" + String(scalar.value, radix: 16)
            default: line.unicodeScalars.append(scalar)
            }
        }
        return line
    }
}

extension HTTPDate {
    /// `10/Oct/2000:13:55:36 +0000`.
    fileprivate var commonLog: String {
        // "Tue, 10 Oct 2000 13:55:36 GMT"
        let words = description.split(separator: " ")
        guard words.count == 6 else { return description }
        return "\(words[1])/\(words[2])/\(words[3]):\(words[4]) +0000"
    }
}
