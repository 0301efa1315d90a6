public import HTTPParser
public import HTTPServerCore
package import ToolkitSystem

/// The client of a request, as trusted proxies forwarded it; `nil` for a part that they left out.
public struct ForwardedClient: Hashable, Sendable {
    package var peer: PeerAddress?
    /// `http` or `https`: how the client reached the first trusted proxy.
    public var scheme: String?
    /// Host and port that the client requested.
    public var host: String?

    /// The client's address. Its port is 0 if the proxy did not name one. If a proxy hides its
    /// client, this is the address of that proxy; `nil` if that is the peer of the connection.
    public var address: SocketAddress? { peer?.address }
}

/// Finds the client of a request behind proxies, by Forwarded (RFC 7239) or by X-Forwarded-For,
/// X-Forwarded-Proto and X-Forwarded-Host.
///
/// Each proxy adds its client to the end of the list. The list is therefore read from its end,
/// beginning with the peer, while the last address is that of a trusted proxy. The remaining
/// elements may come from the client, and are ignored.
public struct ForwardedFields: Sendable {
    /// The names of the fields that trusted proxies write.
    public struct Names: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt8

        /// Creates a set of names by its bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Forwarded.
        public static var forwarded: Self { Self(rawValue: 1) }
        /// X-Forwarded-For: the client's address.
        public static var xForwardedFor: Self { Self(rawValue: 2) }
        /// X-Forwarded-Proto: `http` or `https`.
        public static var xForwardedProto: Self { Self(rawValue: 4) }
        /// X-Forwarded-Host: host and port.
        public static var xForwardedHost: Self { Self(rawValue: 8) }
        /// The three that begin with X-Forwarded.
        public static var xForwarded: Self { [.xForwardedFor, .xForwardedProto, .xForwardedHost] }
    }

    /// The proxies that are trusted.
    public var proxies: TrustedProxies
    /// The fields that are read. The proxies must write or remove each of them: many proxies pass
    /// on fields that they do not know, with values that a client has written.
    ///
    /// If a request has Forwarded, the other fields are not used. The request is refused if
    /// X-Forwarded-For names a client and Forwarded names another or none: one of the two may come
    /// from the client.
    public var names: Names
    /// The most elements of a field; requests with more are refused.
    public var elementLimit = 64

    /// Creates a reader of these fields.
    /// - Parameters:
    ///   - proxies: the proxies that are trusted.
    ///   - names: the fields that the proxies write.
    public init(proxies: TrustedProxies, names: Names) {
        self.proxies = proxies
        self.names = names
    }

    /// The client of a request; `nil` if its peer is not a trusted proxy, or forwarded nothing.
    /// - Throws: for fields of a trusted proxy that are malformed, too long, or contradict each
    ///   other.
    public func client(of request: Request) throws(ForwardedFieldError) -> ForwardedClient? {
        try client(of: request.connection.peerAddress) { request.fields.values(of: $0) }
    }

    /// - Parameter values: the values of the field lines with a name, in order.
    package func client(
        of peer: PeerAddress, values: (HTTPFieldName) -> [String]
    ) throws(ForwardedFieldError) -> ForwardedClient? {
        guard proxies.contains(peer) else { return nil }
        let lines = names.contains(.forwarded) ? values(.forwarded) : []
        let standard = try standardClient(lines)
        let other = try otherClient(values)
        guard let standard else { return other }
        // One of the two may come from the client. Ports are not compared, because X-Forwarded-For
        // rarely has them.
        if let other = other?.peer, other.number != standard.peer?.number {
            throw ForwardedFieldError(.contradiction, in: .forwarded)
        }
        return standard
    }

    // MARK: Forwarded

    private func standardClient(
        _ lines: [String]
    ) throws(ForwardedFieldError) -> ForwardedClient? {
        guard !lines.isEmpty else { return nil }
        var walk = Walk()
        var count = 0
        for line in lines.reversed() {
            guard let elements = ForwardedElement.list(line) else {
                throw ForwardedFieldError(.malformed, in: .forwarded)
            }
            count += elements.count
            guard count <= elementLimit else {
                throw ForwardedFieldError(.tooManyElements, in: .forwarded)
            }
            for element in elements.reversed() {
                guard element.isValid else { throw ForwardedFieldError(.malformed, in: .forwarded) }
                guard walk.take(element, proxies) else { return walk.client }
            }
        }
        return walk.client
    }

    // MARK: X-Forwarded

    private func otherClient(
        _ values: (HTTPFieldName) -> [String]
    ) throws(ForwardedFieldError) -> ForwardedClient? {
        let nodes = try list(.xForwardedFor, .xForwardedFor, values)
        let schemes = try list(.xForwardedProto, .xForwardedProto, values)
        let hosts = try list(.xForwardedHost, .xForwardedHost, values)
        guard !nodes.isEmpty || !schemes.isEmpty || !hosts.isEmpty else { return nil }
        var walk = Walk()
        for distance in 0..<max(nodes.count, 1) {
            var element = ForwardedElement()
            if !nodes.isEmpty {
                element.node = try parsed(nodes, distance, .xForwardedFor) { text in
                    ForwardedNode(text, allowsBareIPv6: true)
                }
            }
            element.scheme = try parsed(
                schemes, distance, .xForwardedProto, ForwardedElement.scheme)
            element.host = try parsed(hosts, distance, .xForwardedHost, ForwardedElement.host)
            guard walk.take(element, proxies) else { break }
        }
        return walk.client
    }

    /// The elements of all lines with a name, without empty ones; none if that field is not read.
    private func list(
        _ option: Names, _ name: HTTPFieldName, _ values: (HTTPFieldName) -> [String]
    ) throws(ForwardedFieldError) -> [Substring] {
        guard names.contains(option) else { return [] }
        let elements = values(name).flatMap { line in
            line.utf8.split(separator: UInt8(ascii: ",")).map { Self.trimmed(Substring($0)) }
        }.filter { !$0.isEmpty }
        guard elements.count <= elementLimit else {
            throw ForwardedFieldError(.tooManyElements, in: name)
        }
        return elements
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while let first = text.utf8.first, ByteClass.isBlank(first) { text = text.dropFirst() }
        while let last = text.utf8.last, ByteClass.isBlank(last) { text = text.dropLast() }
        return text
    }

    /// The element at this distance from the end. If a list is shorter, its first element counts:
    /// the first proxy has set it, and the others have passed it on.
    private func parsed<Value>(
        _ list: [Substring], _ distance: Int, _ name: HTTPFieldName, _ parse: (String) -> Value?
    ) throws(ForwardedFieldError) -> Value? {
        guard !list.isEmpty else { return nil }
        guard let value = parse(String(list[max(list.count - 1 - distance, 0)])) else {
            throw ForwardedFieldError(.malformed, in: name)
        }
        return value
    }
}

/// Steps from the peer to the client, one element for each proxy.
private struct Walk {
    private(set) var client = ForwardedClient()

    /// - Returns: whether the sender is another trusted proxy, whose own element is read next.
    mutating func take(_ element: ForwardedElement, _ proxies: TrustedProxies) -> Bool {
        client.scheme = element.scheme ?? client.scheme
        client.host = element.host ?? client.host
        guard case .address(let address) = element.node else { return false }
        client.peer = address
        return proxies.contains(address)
    }
}

/// The error for fields of a trusted proxy that cannot be used.
public struct ForwardedFieldError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of a fault.
    @nonexhaustive
    public enum Kind: Hashable, Sendable {
        /// An element is malformed.
        case malformed
        /// There are more elements than the limit.
        case tooManyElements
        /// Forwarded does not name the client that X-Forwarded-For names.
        case contradiction
    }

    /// The kind of the fault.
    public let kind: Kind
    /// The field.
    public let field: HTTPFieldName

    init(_ kind: Kind, in field: HTTPFieldName) {
        (self.kind, self.field) = (kind, field)
    }

    /// The fault in one line.
    public var description: String {
        switch kind {
        case .malformed: "malformed \(field)"
        case .tooManyElements: "too many elements in \(field)"
        case .contradiction: "Forwarded does not name the client of X-Forwarded-For"
        }
    }
}
