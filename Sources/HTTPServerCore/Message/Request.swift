public import HTTPParser
public import ToolkitSystem

/// A request to a handler: its head, and its content as a stream.
///
/// It is a small value over one shared block of bytes. Parts of it are decoded and copied only on
/// use.
@safe
public struct Request: Sendable {
    /// The parts of a request that all its copies share.
    package final class Storage: Sendable {
        package let head: RequestHead
        let exchange: Exchange?
        package let connection: ConnectionInfo
        /// The number of the request on its connection, from 1 on.
        package let number: Int
        /// A time of the monotonic clock, in nanoseconds, by which the request had begun to arrive;
        /// `.max` if unknown. A file that was checked after it needs no new check for the answer.
        package let arrival: UInt64
        /// Whether the content is read without the coding that Content-Encoding names.
        let hidesCoding: Bool
        /// Replaces the content of the exchange; `nil` if the request is as it arrived.
        let content: StandInContent?
        private let shown = LazyReference<ShownLines>()
        private let values = LazyReference<RequestValues>()

        init(
            head: consuming RequestHead, exchange: Exchange?, connection: ConnectionInfo,
            number: Int, arrival: UInt64
        ) {
            self.head = head
            self.exchange = exchange
            self.connection = connection
            self.number = number
            self.arrival = arrival
            hidesCoding = exchange?.decoding != nil
            content = nil
        }

        /// Creates a request from another one. Both share their values.
        /// - Parameter content: the new content; `nil` to keep the content of `other`.
        package init(
            head: consuming RequestHead, content: StandInContent? = nil, inPlaceOf other: Storage
        ) {
            self.head = head
            exchange = content == nil ? other.exchange : nil
            connection = other.connection
            number = other.number
            arrival = other.arrival
            hidesCoding = content == nil && other.hidesCoding
            self.content = content ?? other.content
            _ = share(other.madeValues)
        }

        /// The indices of the field lines other than Content-Encoding, found at the first use.
        var shownLines: [Int] {
            if let found = shown.load() { return found.places }
            var places: [Int] = []
            let count = unsafe head.table.count
            for place in 0..<count {
                let field = unsafe head.table.field(place)
                if field.name != .contentEncoding { places.append(place) }
            }
            return shown.storeIfNil(ShownLines(places)).places
        }

        var madeValues: RequestValues { share(RequestValues()) }

        /// Values stored with the request; `nil` in most requests.
        package var valuesIfMade: RequestValues? { values.load() }

        private func share(_ new: @autoclosure () -> RequestValues) -> RequestValues {
            values.load() ?? values.storeIfNil(new())
        }
    }

    package let storage: Storage
    /// The values that the router took from the path, such as the value of `:name` in a route.
    public package(set) var parameters = PathParameters()
    /// How many segments of the path a mount has taken.
    package var mountDepth = 0
    /// The target that replaces the one of the request line; `nil` when nothing replaces it.
    package var rewritten: RewrittenTarget?

    package init(_ storage: Storage) {
        self.storage = storage
    }

    /// The method, as the client sent it: HEAD is HEAD, though a GET route answers it.
    public var method: HTTPMethod { storage.head.method }
    /// The version of the request.
    public var version: HTTPVersion { storage.head.version }
    /// The fields, in the order of the wire. Content-Encoding is left out if the server decodes the
    /// content, because it does not apply to `body`; `RequestBody.codings` has its value.
    public var fields: RequestFields {
        RequestFields(storage: storage, hidesCoding: storage.hidesCoding)
    }
    /// All fields, as received.
    package var wireFields: RequestFields { RequestFields(storage: storage, hidesCoding: false) }
    /// The announced length of the content in bytes; `nil` without Content-Length, and where a
    /// content coding is removed, because the decoded content has another length.
    public var contentLength: Int64? { storage.hidesCoding ? nil : storage.head.contentLength }
    /// The content without transfer coding. It is read on demand, once.
    public var body: RequestBody {
        storage.content?.body ?? RequestBody(exchange: storage.exchange)
    }
    /// Whether the content is that of the client, unchanged: it is not replaced, and no content
    /// coding is removed.
    package var hasPlainContent: Bool { storage.content == nil && !storage.hidesCoding }
    /// The connection that the request came on.
    public var connection: ConnectionInfo { storage.connection }
    /// The address of the client: the peer of the connection, or the client that a proxy names, if
    /// an outer handler trusts that proxy.
    public var peer: SocketAddress { peerAddress.address }
    package var peerAddress: PeerAddress { self[ForwardedPeerKey.self] ?? connection.peerAddress }
    /// The local address of the connection; see `ConnectionInfo.local`.
    public var local: SocketAddress { storage.connection.local }

    /// Gives back content that was collected, so that `body` has it again.
    package func giveBack(_ content: [UInt8]) {
        guard let exchange = storage.exchange else { return }
        if exchange.loop.isCurrent { return exchange.giveBack(content) }
        exchange.loop.execute { exchange.giveBack(content) }
    }

    package var knownMethod: HTTPMethod.Known { storage.head.knownMethod }

    package var targetBytes: UnsafeRawBufferPointer {
        if let rewritten { return unsafe rewritten.bytes }
        return unsafe storage.head.targetBytes
    }
}

/// The field lines of a request that are not hidden.
private final class ShownLines: Sendable {
    let places: [Int]

    init(_ places: [Int]) {
        self.places = places
    }
}

/// The fields of a request: a collection that reads them in place.
@safe
public struct RequestFields: Sendable, RandomAccessCollection {
    let storage: Request.Storage
    /// Whether Content-Encoding is left out.
    let hidesCoding: Bool

    private var table: FieldTable { unsafe storage.head.table }

    /// The index of the first field line: 0.
    public var startIndex: Int { 0 }
    /// The number of field lines.
    public var endIndex: Int {
        guard hidesCoding else { return unsafe table.count }
        return storage.shownLines.count
    }

    /// The field at a position of 0..<`count`.
    public subscript(position: Int) -> HTTPField {
        precondition(position >= 0 && position < count, "field position out of range")
        guard hidesCoding else { return unsafe table.field(position) }
        return unsafe table.field(storage.shownLines[position])
    }

    /// The value of the first field with this name: UTF-8, or Latin-1 where it is not valid.
    public subscript(name: HTTPFieldName) -> String? {
        guard let index = unsafe table.index(of: name), !isHidden(name) else { return nil }
        return unsafe fieldText(table.value(index))
    }

    /// The values of all fields with this name, in order.
    public func values(of name: HTTPFieldName) -> [String] {
        isHidden(name) ? [] : unsafe table.values(of: name)
    }

    /// All values of a field whose value is a list, joined by commas as RFC 9110 section 5.3
    /// allows; `nil` without such a field.
    public func list(_ name: HTTPFieldName) -> String? {
        isHidden(name) ? nil : unsafe table.list(name)
    }

    /// Whether there is a field with this name.
    public func contains(_ name: HTTPFieldName) -> Bool {
        guard unsafe table.index(of: name) != nil else { return false }
        return !isHidden(name)
    }

    @inline(__always)
    private func isHidden(_ name: HTTPFieldName) -> Bool {
        hidesCoding && name == .contentEncoding
    }
}

/// The parameters of a route, percent-decoded: the values of `:name` segments, and the groups of a
/// regular expression.
public struct PathParameters: Sendable, Hashable {
    private struct Pair: Sendable, Hashable {
        var name: String
        var value: String?
    }

    private var pairs: [Pair] = []
    package init() {}

    /// The matches of the groups of a regular expression, with names or without: the whole match
    /// first, `nil` for a group that took no part. Empty for other routes.
    public package(set) var captures: [String?] = []

    /// The value of a parameter, or of a named group; `nil` if the route has neither with this
    /// name, or the group took no part.
    public subscript(name: String) -> String? {
        pairs.last { $0.name == name }.flatMap(\.value)
    }

    /// Whether the route took no values from the path.
    public var isEmpty: Bool { pairs.isEmpty && captures.isEmpty }

    package mutating func set(_ name: String, _ value: String?) {
        pairs.append(Pair(name: name, value: value))
    }

    package mutating func add(_ other: PathParameters) {
        pairs += other.pairs
        captures = other.captures
    }
}
