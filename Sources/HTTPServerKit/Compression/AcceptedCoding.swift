internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore

/// Whether a request accepts gzip, the only coding of responses (RFC 9110 section 12.5.3).
///
/// `deflate` is not offered: clients disagree on what it means (section 8.4.1.2), and all of them
/// know gzip.
enum AcceptedCoding: Equatable {
    /// The client does not accept gzip, or prefers uncoded content.
    case identity
    case gzip
    /// The client accepts gzip and refuses uncoded content.
    case gzipOnly

    init(_ request: borrowing Request) {
        self.init(Self.preference(of: request))
    }

    init(_ preference: ContentCodingPreference) {
        let gzip = preference.weight(of: .gzip)
        guard gzip > 0, gzip >= preference.weight(of: .identity) else {
            self = .identity
            return
        }
        self = preference.acceptsIdentity ? .gzip : .gzipOnly
    }

    var isGzip: Bool { self != .identity }

    /// The request's preferences. A single line is parsed without a copy. A malformed field counts
    /// as absent.
    static func preference(of request: Request) -> ContentCodingPreference {
        let table = unsafe request.storage.head.table
        guard let first = unsafe table.index(of: .acceptEncoding) else { return .absent }
        guard unsafe table.index(of: .acceptEncoding, from: first + 1) == nil else {
            return request.fields.list(.acceptEncoding).flatMap { ContentCodingPreference($0) }
                ?? .absent
        }
        let bytes = unsafe table.value(first).assumingMemoryBound(to: UInt8.self)
        return unsafe ContentCodingPreference(Span(_unsafeElements: bytes)) ?? .absent
    }
}
