/// The properties that the server makes (RFC 4918 section 15, RFC 4331).
enum LiveProperty: String, CaseIterable, Sendable {
    case creationdate
    case displayname
    case getcontentlanguage
    case getcontentlength
    case getcontenttype
    case getetag
    case getlastmodified
    case lockdiscovery
    case resourcetype
    case supportedlock
    case quotaAvailable = "quota-available-bytes"
    case quotaUsed = "quota-used-bytes"
    /// RFC 3744 section 5.4.
    case privileges = "current-user-privilege-set"

    /// `nil` for the name of a dead property.
    init?(_ name: XMLName) {
        // None of them is as long as that.
        guard name.isDAV, name.local.utf8.count < 64 else { return nil }
        self.init(rawValue: name.local)
    }

    /// Whether clients cannot set it. The others become dead properties, which then count.
    var isProtected: Bool { self != .displayname && self != .getcontentlanguage }

    /// What is costly to find out is not part of allprop (RFC 4331 section 2).
    var isQuota: Bool { self == .quotaAvailable || self == .quotaUsed }

    /// Whether allprop has it; RFC 3744 section 5 keeps its properties out of that.
    var isInAllprop: Bool { !isQuota && self != .privileges }
}
