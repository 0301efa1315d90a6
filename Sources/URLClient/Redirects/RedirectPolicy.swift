public import HTTPParser

/// Decides which redirects are followed, and which fields the next request gets.
///
/// Another origin (another scheme, host or port) gets no credentials of the request:
/// `Authorization`, `Cookie` and `Proxy-Authorization` are removed, and so are `Host` and `Origin`.
/// It gets the credentials that are stored for it. From https to http, `Referer` is removed as
/// well. RFC 9110, section 15.4.
public struct RedirectPolicy: Sendable, Hashable {
    /// Fields that go to another origin.
    public enum CrossOriginFields: Sendable, Hashable {
        /// Known fields that contain no secrets: `Accept`, `User-Agent`, `Range` and others. A
        /// field such as `X-API-Key` is removed. If https replaces http at the same host, only
        /// credentials and ``RedirectPolicy/sensitiveFields`` are removed.
        case wellKnown
        /// All but credentials and ``RedirectPolicy/sensitiveFields``.
        case allButSensitive
    }

    /// Whether redirects are followed. If not, a redirect is delivered like any response.
    public var isEnabled = true
    /// The most redirects in a row, at least 0. The limit also ends loops.
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
    /// Whether the target has another scheme, host or port.
    package var crossesOrigin: Bool
    /// Whether it leads to the same host by https instead of http.
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
        /// More redirects than the limit.
        case tooMany
        /// Location is not a valid reference, or several values of it differ.
        case malformed
        /// The target is neither http nor https.
        case unsupportedScheme
        /// The target has a user name that the request did not have: such links are made to
        /// deceive.
        case userInformation
        /// The redirect leads from https to http.
        case downgrade
    }

    package var kind: Kind
    /// The value of Location.
    package var location: String
    /// The URLs that were redirected, in order, without user information.
    package var history: [String]
}
