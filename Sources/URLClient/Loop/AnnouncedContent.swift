internal import HTTPCodecs
internal import HTTPParser

/// The facts about the content that responses have announced.
struct AnnouncedContent {
    /// The length of the whole content, if that is known.
    var length: Int64?
    /// The length of the whole content of a resumed download. At the end, the file must have this
    /// length.
    var total: Int64?
    /// The end of the range that the server announced for a resumed download, exclusive.
    var partEnd: Int64?
    var validator: String?
    var hasRanges = false

    init() {}

    /// Announces the content of a resumed download.
    init(_ resume: ResumeData, total: Int64?) {
        self.total = total
        length = total
        validator = resume.validator
        hasRanges = true
    }

    /// Announces the content of a response. The download can be resumed later with a strong
    /// validator, from a server that supports ranges (RFC 9110 section 13.1.5).
    init(_ response: ClientResponse, isDecoded: Bool) {
        let fields = response.fields
        length = response.expectedLength
        hasRanges =
            response.status == .ok && !isDecoded
            && fields[.acceptRanges].map { $0.utf8.count == 4 && $0.lowercased() == "none" } != true
        if let tag = fields[.eTag], !tag.begins(with: "W/"), ClientRequest.isAllowed(tag) {
            validator = tag
        } else if fields[.eTag] == nil {
            validator = Self.strongDate(fields)
        }
    }

    /// The value of Last-Modified, if the content cannot have changed again within the same second
    /// (RFC 9110 section 8.8.2.2).
    private static func strongDate(_ fields: HTTPFields) -> String? {
        let now = WallClock.now
        guard let text = fields[.lastModified], let changed = HTTPDate(text, now: now),
            let sent = fields[.date].flatMap({ HTTPDate($0, now: now) }),
            sent.secondsSinceEpoch - changed.secondsSinceEpoch >= 1
        else { return nil }
        return text
    }
}
