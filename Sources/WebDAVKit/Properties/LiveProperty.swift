/// The properties that the server makes (RFC 4918 section 15, RFC 4331), and ownCloud's checksums.
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
    /// ownCloud's, in its own namespace; rclone and ownCloud's clients compare files by it.
    case checksums

    /// `nil` for the name of a dead property.
    init?(_ name: XMLName) {
        // None of them is as long as that.
        guard name.local.utf8.count < 64, let known = Self(rawValue: name.local),
            name.namespace.hasSameBytes(as: known.namespace)
        else { return nil }
        self = known
    }

    private var namespace: String { self == .checksums ? "http://owncloud.org/ns" : "DAV:" }

    var name: XMLName { XMLName(rawValue, in: namespace) }

    /// Whether clients cannot set it. A settable property is stored as a dead property, which then
    /// takes precedence.
    var isProtected: Bool { self != .displayname && self != .getcontentlanguage }

    /// Properties that are costly to find out are not part of allprop (RFC 4331 section 2).
    var isQuota: Bool { self == .quotaAvailable || self == .quotaUsed }

    /// Whether allprop has it; RFC 3744 section 5 keeps its properties out of that, and RFC 4918
    /// section 9.1 asks for none but its own.
    var isInAllprop: Bool { !isQuota && self != .privileges && self != .checksums }
}
