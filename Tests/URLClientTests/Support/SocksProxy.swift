import HTTPCodecs
import ToolkitSystem

/// A SOCKS proxy of versions 4, 4a and 5 (RFC 1928, RFC 1929) that records the requested targets,
/// and is also the server.
final class SocksProxy: Sendable {
    private let peer: ScriptedPeer
    /// The requests to the proxy: version, login, kind of address and target.
    let asked: Locked<[String]>
    /// The heads of the requests that came through.
    let heads: Locked<[String]>

    /// - Parameters:
    ///   - login: the login that version 5 requires, as `name:password`; nil for none.
    ///   - refuses: whether it refuses every connection.
    init(login: String? = nil, refuses: Bool = false) throws {
        let (asked, heads) = (Locked([String]()), Locked([String]()))
        (self.asked, self.heads) = (asked, heads)
        peer = try ScriptedPeer { connection in
            let version = connection.content(1)
            let entry =
                version == [5]
                ? Self.five(connection, login, refuses) : Self.four(connection, refuses)
            guard let entry else { return }
            asked.withLock { $0.append(entry) }
            while !refuses, let head = connection.head() {
                heads.withLock { $0.append(head) }
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
            connection.waitForEnd()
        }
    }

    var port: UInt16 { peer.port }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func dotted(_ bytes: [UInt8]) -> String {
        bytes.map { "\($0)" }.joined(separator: ".")
    }

    private static func port(_ bytes: [UInt8]) -> Int { Int(bytes[0]) << 8 | Int(bytes[1]) }

    /// The text before a zero byte.
    private static func string(_ connection: PeerConnection) -> String {
        var bytes: [UInt8] = []
        while let byte = connection.content(1).first, byte != 0 { bytes.append(byte) }
        return text(bytes)
    }

    private static func four(_ connection: PeerConnection, _ refuses: Bool) -> String? {
        let request = connection.content(7)
        guard request.count == 7 else { return nil }
        let user = string(connection)
        let address = Array(request[3...])
        // 0.0.0.x stands for a name that follows.
        let isNamed = address.prefix(3) == [0, 0, 0]
        let host = isNamed ? "name \(string(connection))" : "address \(dotted(address))"
        connection.send([0, refuses ? 91 : 90, 0, 0, 0, 0, 0, 0])
        return "4 user=\(user) \(host):\(port(Array(request[1...2])))"
    }

    private static func five(
        _ connection: PeerConnection, _ login: String?, _ refuses: Bool
    ) -> String? {
        guard let count = connection.content(1).first else { return nil }
        let methods = connection.content(Int(count))
        var user = ""
        if let login {
            guard methods.contains(2) else {
                connection.send([5, 0xFF])
                return "5 no login"
            }
            connection.send([5, 2])
            _ = connection.content(1)
            let name = connection.content(Int(connection.content(1).first ?? 0))
            let password = connection.content(Int(connection.content(1).first ?? 0))
            user = "\(text(name)):\(text(password))"
            connection.send([1, user == login ? 0 : 1])
            guard user == login else { return "5 wrong login" }
        } else {
            connection.send([5, 0])
        }
        let request = connection.content(4)
        guard request.count == 4 else { return nil }
        let host: String
        switch request[3] {
        case 1: host = "address \(dotted(connection.content(4)))"
        case 3: host = "name \(text(connection.content(Int(connection.content(1).first ?? 0))))"
        default: host = "address6 \(dotted(connection.content(16)))"
        }
        let target = "5 user=\(user) \(host):\(port(connection.content(2)))"
        connection.send([5, refuses ? 5 : 0, 0, 1, 0, 0, 0, 0, 0, 0])
        return target
    }
}
