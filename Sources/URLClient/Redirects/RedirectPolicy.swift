public import HTTPParser

/// Decides which redirects are followed, and which fields go along.
///
/// No credentials go to another origin, that is another scheme, host or port: `Authorization`,
/// `Cookie` and `Proxy-Authorization` of the request are left out then, and the next origin
/// gets the credentials that are stored for it. RFC 9110, section 15.4.
public struct RedirectPolicy: Sendable, Hashable {
    /// Fields that go to another origin.
    public enum CrossOriginFields: Sendable, Hashable {
        /// Fields whose meaning is known not to be a secret: `Accept`, `User-Agent`, `Range` and
        /// others. A field such as `X-API-Key` does not go along. If https replaces http at the
        /// same host, all fields go but credentials and ``RedirectPolicy/sensitiveFields``.
        case wellKnown
        /// All but credentials and ``RedirectPolicy/sensitiveFields``.
        case allButSensitive
    }

    /// Whether redirects are followed; a redirect is an answer like others when not.
    public var isEnabled = true
    /// How many redirects are followed one after the other, at least 0. It also ends loops.
    public var limit = 20
    /// Whether a redirect may lead from https to http.
    public var allowsDowngrade = false
    /// Which fields of the request another origin gets.
    public var crossOriginFields = CrossOriginFields.wellKnown
    /// Fields, besides credentials, that another origin never gets.
    public var sensitiveFields: [HTTPFieldName] = []

    /// The defaults.
    public init() {}
}

/// The request that a redirect asks for.
package struct Redirect: Sendable {
    /// The target URL, with the fragment of the previous URL unless Location has one.
    package var target: String
    package var method: HTTPMethod
    package var fields: HTTPFields
    /// Whether the content is sent again.
    package var keepsBody: Bool
    /// Whether it leads to another scheme, host or port.
    package var crossesOrigin: Bool
    /// Whether it leads to the same host by https in place of http.
    package var isUpgrade: Bool
}

/// The verdict of the redirect rules on a response.
package enum RedirectVerdict: Sendable {
    /// The response is delivered; no redirect is followed.
    case deliver
    /// The redirect is followed.
    case follow(Redirect)
    /// The redirect must not be followed.
    case refuse(RedirectFault)
}

/// Why a redirect is not followed.
package struct RedirectFault: Error, Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// More than the limit.
        case tooMany
        /// Location is no reference, or there are several that differ.
        case malformed
        /// To something that is neither http nor https.
        case unsupportedScheme
        /// To a URL with a user name that the request did not have: such links are made to deceive.
        case userInformation
        /// From https to http.
        case downgrade
    }

    package var kind: Kind
    /// The value of Location.
    package var location: String
    /// The URLs of the chain, the first one first, without user information.
    package var history: [String]
}
