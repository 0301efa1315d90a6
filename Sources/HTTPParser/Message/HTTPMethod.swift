/// A request method: a case-sensitive token such as `GET` (RFC 9110 section 9).
///
/// Methods with a constant below are stored and compared as one byte, any other token as text. Two
/// methods are equal only if their spelling is equal.
public struct HTTPMethod: Hashable, Sendable {
    /// The methods that the toolkit has constants for. Raw values may change between builds.
    package enum Known: UInt8, CaseIterable, Sendable {
        case other
        case get, head, post, put, delete, connect, options, trace, patch
        case propfind, proppatch, mkcol, copy, move, lock, unlock, report, search, query
    }

    package let known: Known
    private let custom: String

    @inline(__always)
    package init(_ known: Known, custom: String = "") {
        self.known = known
        self.custom = custom
    }

    /// Whether both are spelled the same. Known methods are compared as one byte.
    @inline(__always)
    public static func == (left: Self, right: Self) -> Bool {
        left.known == right.known && (left.known != .other || left.custom == right.custom)
    }

    /// Creates a method from its token, or `nil` when `name` is not a token (RFC 9110 5.6.2).
    public init?(_ name: String) {
        guard !name.isEmpty, name.utf8.allSatisfy(ByteClass.isToken) else { return nil }
        let known = Known.allCases.first { $0 != .other && $0.name == name } ?? .other
        self.init(known, custom: known == .other ? name : "")
    }

    /// The method as written on the wire.
    public var name: String { known == .other ? custom : known.name }

    /// Whether the toolkit has a constant for the method; servers answer 501 to other methods.
    public var isKnown: Bool { known != .other }

    /// Whether the method is read-only by definition (RFC 9110 section 9.2.1).
    public var isSafe: Bool {
        switch known {
        case .get, .head, .options, .trace, .propfind, .report, .search, .query: true
        default: false
        }
    }

    /// Whether sending the request repeatedly has the same effect as sending it once (RFC 9110
    /// section 9.2.2).
    public var isIdempotent: Bool {
        switch known {
        case .put, .delete, .proppatch, .mkcol, .copy, .move, .unlock: true
        default: isSafe
        }
    }

    /// Transfer a representation of the target (RFC 9110 9.3.1).
    public static var get: Self { Self(.get) }
    /// `GET` without the content (RFC 9110 9.3.2).
    public static var head: Self { Self(.head) }
    /// Let the target process the content (RFC 9110 9.3.3).
    public static var post: Self { Self(.post) }
    /// Replace the target by the content (RFC 9110 9.3.4).
    public static var put: Self { Self(.put) }
    /// Remove the target (RFC 9110 9.3.5).
    public static var delete: Self { Self(.delete) }
    /// Open a tunnel (RFC 9110 9.3.6).
    public static var connect: Self { Self(.connect) }
    /// Ask for the communication options (RFC 9110 9.3.7).
    public static var options: Self { Self(.options) }
    /// Loop the message back (RFC 9110 9.3.8).
    public static var trace: Self { Self(.trace) }
    /// Change the target in part (RFC 5789).
    public static var patch: Self { Self(.patch) }
    /// Read properties (RFC 4918 9.1).
    public static var propfind: Self { Self(.propfind) }
    /// Change properties (RFC 4918 9.2).
    public static var proppatch: Self { Self(.proppatch) }
    /// Create a collection (RFC 4918 9.3).
    public static var mkcol: Self { Self(.mkcol) }
    /// Duplicate a resource (RFC 4918 9.8).
    public static var copy: Self { Self(.copy) }
    /// Rename a resource (RFC 4918 9.9).
    public static var move: Self { Self(.move) }
    /// Take a lock (RFC 4918 9.10).
    public static var lock: Self { Self(.lock) }
    /// Release a lock (RFC 4918 9.11).
    public static var unlock: Self { Self(.unlock) }
    /// Ask for a report (RFC 3253 3.6).
    public static var report: Self { Self(.report) }
    /// Search a scope (RFC 5323).
    public static var search: Self { Self(.search) }
    /// A safe request with content (the HTTP `QUERY` method).
    public static var query: Self { Self(.query) }
}

extension HTTPMethod: CustomStringConvertible {
    /// The method's name.
    public var description: String { name }
}

extension HTTPMethod.Known {
    package var name: String {
        switch self {
        case .other: ""
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .delete: "DELETE"
        case .connect: "CONNECT"
        case .options: "OPTIONS"
        case .trace: "TRACE"
        case .patch: "PATCH"
        case .propfind: "PROPFIND"
        case .proppatch: "PROPPATCH"
        case .mkcol: "MKCOL"
        case .copy: "COPY"
        case .move: "MOVE"
        case .lock: "LOCK"
        case .unlock: "UNLOCK"
        case .report: "REPORT"
        case .search: "SEARCH"
        case .query: "QUERY"
        }
    }
}

extension HTTPMethod.Known {
    /// Recognises a token by its first eight bytes as a little-endian word (zero after the token's
    /// end), its length, and its ninth byte, which counts only for nine bytes.
    @inline(__always)
    init(word: UInt64, length: Int, ninth: UInt8) {
        guard length <= 8 else {
            let isProppatch =
                word == 0x4354_4150_504F_5250 && length == 9 && ninth == UInt8(ascii: "H")
            self = isProppatch ? .proppatch : .other
            return
        }
        self =
            switch word {
            case 0x0054_4547: .get
            case 0x4441_4548: .head
            case 0x5453_4F50: .post
            case 0x0054_5550: .put
            case 0x4554_454C_4544: .delete
            case 0x0054_4345_4E4E_4F43: .connect
            case 0x0053_4E4F_4954_504F: .options
            case 0x0045_4341_5254: .trace
            case 0x0048_4354_4150: .patch
            case 0x444E_4946_504F_5250: .propfind
            case 0x004C_4F43_4B4D: .mkcol
            case 0x5950_4F43: .copy
            case 0x4556_4F4D: .move
            case 0x4B43_4F4C: .lock
            case 0x4B43_4F4C_4E55: .unlock
            case 0x5452_4F50_4552: .report
            case 0x4843_5241_4553: .search
            case 0x0059_5245_5551: .query
            default: .other
            }
    }

    /// Recognises a token.
    init(_ token: UnsafeRawBufferPointer) {
        var word: UInt64 = 0
        for index in 0..<min(token.count, 8) {
            word |= unsafe UInt64(token[index]) << UInt64(8 * index)
        }
        self.init(
            word: word, length: token.count, ninth: unsafe token.count > 8 ? token[8] : 0)
    }
}
