internal import HTTPCodecs

/// The properties that the server computes (RFC 4918 section 15, RFC 4331), and ownCloud's
/// checksums.
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
    /// The checksums in ownCloud's namespace, by which rclone and ownCloud's clients compare files.
    case checksums

    /// `nil` for the name of a dead property.
    init?(_ name: XMLName) {
        // All of their names are shorter.
        guard name.local.utf8.count < 64, let known = Self(rawValue: name.local),
            name.namespace.hasBytes(of: known.namespace)
        else { return nil }
        self = known
    }

    private var namespace: String { self == .checksums ? "http://owncloud.org/ns" : "DAV:" }

    var name: XMLName { XMLName(rawValue, in: namespace) }

    /// Whether clients cannot set it. A settable property is stored as a dead property, which then
    /// takes precedence.
    var isProtected: Bool { self != .displayname && self != .getcontentlanguage }

    /// Whether the property is a quota, which allprop omits because it may be costly to compute
    /// (RFC 4331 section 2).
    var isQuota: Bool { self == .quotaAvailable || self == .quotaUsed }

    /// Whether allprop includes the property. RFC 3744 section 5 excludes its own properties, and
    /// RFC 4918 section 9.1 requires only those of RFC 4918.
    var isInAllprop: Bool { !isQuota && self != .privileges && self != .checksums }
}
