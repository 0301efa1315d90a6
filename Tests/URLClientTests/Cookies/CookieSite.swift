import HTTPParser
import Testing
import URLClient

/// A cookie jar that receives and sends cookies at a given time.
struct CookieSite {
    var jar = CookieJar()
    var now = HTTPDate(secondsSinceEpoch: 1_700_000_000)

    static func context(_ url: String, main: String? = nil) throws -> CookieContext {
        let reference = URIReference(url)
        let authority = try #require(reference.authority)
        let scheme = try #require(reference.scheme)
        let path = reference.path.isEmpty ? "/" : reference.path
        return CookieContext(
            origin: Origin(scheme: scheme, host: authority), path: path, mainHost: main)
    }

    @discardableResult
    mutating func receive(
        _ field: String, from url: String, main: String? = nil,
        policy: CookieAcceptPolicy = .always
    ) throws -> Bool {
        jar.receive(
            field, from: try Self.context(url, main: main), policy: policy, now: now)
    }

    mutating func sent(to url: String, main: String? = nil) throws -> String? {
        jar.field(for: try Self.context(url, main: main), now: now)?.text
    }
}
