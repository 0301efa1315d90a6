package import HTTPServerCore
import Synchronization
internal import ToolkitSystem

/// A listener that sends unusual and malformed responses, by path. Clients can be tested with it;
/// the toolkit's own server never sends these.
///
/// Each connection has a thread that runs its script, a list of steps. At most ``connectionLimit``
/// of them run concurrently; the others wait. Only tests should be able to reach this server.
package final class TortureServer: Sendable {
    /// The most connections that are served concurrently.
    package static let connectionLimit = 48
    /// The most open connections; others wait to be accepted.
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
                // Without a free descriptor the connection stays in the listener's queue.
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
        ("Unusual and valid", legal), ("Malformed or missing heads", brokenHeads),
        ("Malformed content", brokenContent), ("Problematic redirects", redirects),
    ]

    /// The page that lists the cases.
    static var index: TortureStep {
        var page = BinIndex.head("httpkit bin: broken on purpose")
        page += "<p class=\"note\">Each path answers in a different way, over a plain socket. "
        page += "Complete content is the word whole.</p>\n"
        for group in groups {
            let rows = group.cases.map {
                BinIndex.row("GET", "/\($0.name)", $0.text, link: "/\($0.name)")
            }
            page += BinIndex.table(group.title, rows)
        }
        return .whole(page + "</main></body></html>\n", ["Content-Type: text/html; charset=utf-8"])
    }
}
