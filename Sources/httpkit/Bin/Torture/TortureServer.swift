package import HTTPServerCore
import Synchronization
internal import ToolkitSystem

/// A listener that sends unusual and malformed responses, by path. Clients can be tested with it;
/// the toolkit's own server never sends these.
///
/// Each connection has a thread that runs its script, a list of steps; at most ``connectionLimit``
/// of them run at once, the others wait. It is a tool that only tests should reach.
package final class TortureServer: Sendable {
    /// How many connections are served at once.
    package static let connectionLimit = 48
    /// How many connections may be open; others wait to be accepted.
    private static let openLimit = 256

    /// The port that it listens at.
    package let port: UInt16
    private let listeners: [Listener]
    private let pool = BlockingPool(threads: connectionLimit)
    private let acceptors: BlockingPool
    private let open = Locked<Set<CInt>>([])
    private let isStopped = Atomic<Bool>(false)
    private let cases: [String: TortureCase]

    /// Listens, and serves until `stop`.
    /// - Parameters:
    ///   - host: an address or a name.
    ///   - port: the port; 0 for any free one.
    package init(host: String = "127.0.0.1", port: UInt16 = 0) throws(ListenError) {
        listeners = try Listener.bind(host: host, port: port, backlog: 128)
        self.port = listeners.first?.address.port ?? 0
        cases = Dictionary(
            TortureCase.groups.flatMap(\.cases).map { ($0.name, $0) },
            uniquingKeysWith: { first, _ in first })
        acceptors = BlockingPool(threads: listeners.count)
        for listener in listeners {
            acceptors.submit { [weak self] in
                Self.accept(listener, hasRoom: { self?.hasRoom ?? true }) {
                    self?.serve($0) ?? false
                }
            }
        }
    }

    deinit { stop() }

    /// Ends listening, and all connections.
    package func stop() {
        guard !isStopped.exchange(true, ordering: .acquiringAndReleasing) else { return }
        for listener in listeners { listener.close() }
        open.withLock { open in
            for descriptor in open { TortureSocket.shutDown(descriptor) }
        }
    }

    private var hasRoom: Bool { open.withLock { $0.count < Self.openLimit } }

    private static func accept(
        _ listener: Listener, hasRoom: () -> Bool, _ serve: (CInt) -> Bool
    ) {
        while !listener.isClosed {
            guard hasRoom() else {
                TortureSocket.pause(milliseconds: 50)
                continue
            }
            guard TortureSocket.waitForInput(listener.descriptor, milliseconds: 500) else {
                continue
            }
            var peer = RawSocketAddress()
            guard case .done(let descriptor) = listener.accept(&peer) else {
                // Without a free descriptor the connection stays where it is.
                TortureSocket.pause(milliseconds: 50)
                continue
            }
            guard serve(CInt(descriptor)) else { return Syscalls.close(CInt(descriptor)) }
        }
    }

    /// - Returns: whether the connection was taken over.
    private func serve(_ descriptor: CInt) -> Bool {
        guard !isStopped.load(ordering: .acquiring) else { return false }
        open.withLock { _ = $0.insert(descriptor) }
        pool.submit { [cases, weak self] in
            let socket = TortureSocket(descriptor)
            var connection = TortureConnection(socket: socket, cases: cases)
            connection.run()
            // The number may belong to another file as soon as the socket is closed.
            self?.open.withLock { _ = $0.remove(descriptor) }
            Syscalls.close(descriptor)
        }
        return true
    }
}

extension TortureCase {
    static let groups: [(title: String, cases: [TortureCase])] = [
        ("Odd and legal", legal), ("Broken heads, and none at all", brokenHeads),
        ("Broken content", brokenContent), ("Redirects that lead astray", redirects),
    ]

    /// The page that lists them.
    static var index: TortureStep {
        var page = BinIndex.head("httpkit bin: broken on purpose")
        page += "<p class=\"note\">Each path answers in a different way, over a socket without "
        page += "any idea of HTTP. Content that is whole says so.</p>\n"
        for group in groups {
            let rows = group.cases.map {
                BinIndex.row("GET", "/\($0.name)", $0.text, link: "/\($0.name)")
            }
            page += BinIndex.table(group.title, rows)
        }
        return .whole(page + "</main></body></html>\n", ["Content-Type: text/html; charset=utf-8"])
    }
}
