public import HTTPParser
public import HTTPServerCore
internal import Synchronization

/// Gives each request an id, `Request.traceID`, which appears in the logs and in the response.
///
/// Ids have 32 hexadecimal digits and are unique across processes with high probability. They are
/// not secret.
public struct RequestIDHandler: Handler {
    private let handler: any Handler
    private let name: HTTPFieldName
    private let acceptsForeign: Bool
    private let source = IDSource()

    /// Creates a handler.
    /// - Parameters:
    ///   - handler: the inner handler.
    ///   - name: the name of the field, in request and response.
    ///   - acceptsIncoming: whether an id in the request's field is used, if it consists of 1 to
    ///     128 letters, digits, `-`, `_`, `.`, `:`, `+`, `/` or `=`. Enable this only for trusted
    ///     clients: they choose the ids in the logs.
    public init(
        _ handler: some Handler, name: HTTPFieldName = "X-Request-ID",
        acceptsIncoming: Bool = false
    ) {
        self.handler = handler
        self.name = name
        acceptsForeign = acceptsIncoming
    }

    /// Answers with the inner handler's response and the id.
    public func answer(_ request: Request) throws -> Answer {
        let id = identify(request)
        return try handler.renderedAnswer(to: request).map { [name] response in
            var response = response
            response.fields[name] = id
            return response
        }
    }

    /// The request's id. An id that an outer handler of this type has set stays.
    private func identify(_ request: Request) -> String {
        if let known = request[TraceKey.self] { return known }
        let id = incoming(request) ?? source.next()
        request[TraceKey.self] = id
        return id
    }

    private func incoming(_ request: Request) -> String? {
        guard acceptsForeign, let id = request.fields[name], (1...128).contains(id.utf8.count),
            id.utf8.allSatisfy(Self.isPlain)
        else { return nil }
        return id
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x2B, 0x2D...0x2F, 0x3A, 0x3D, 0x5F: true
        default: false
        }
    }
}

/// Makes ids. The first half is random for each source, the second half is a scrambled counter.
private final class IDSource: Sendable {
    private let first = UInt64.random(in: .min ... .max)
    private let seed = UInt64.random(in: .min ... .max)
    private let count = Atomic<UInt64>(0)

    func next() -> String {
        // SplitMix64, which repeats no value in 2^64 calls.
        var word = seed &+ count.add(1, ordering: .relaxed).newValue &* 0x9E37_79B9_7F4A_7C15
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        word ^= word >> 31
        let (first, second) = (first, word)
        return unsafe String(unsafeUninitializedCapacity: 32) { room in
            for index in 0..<32 {
                let half = index < 16 ? first : second
                let digit = UInt8(truncatingIfNeeded: half >> UInt64(60 - index % 16 * 4)) & 15
                unsafe room[index] = digit < 10 ? 0x30 + digit : 0x57 + digit
            }
            return 32
        }
    }
}
