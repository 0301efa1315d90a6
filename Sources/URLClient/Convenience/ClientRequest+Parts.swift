internal import HTTPCodecs
internal import HTTPParser

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension ClientRequest {
    /// Why it cannot be sent: its URL is none, or neither http nor https. Nil where nothing is wrong
    /// with it. A task for it fails with the same error.
    public var fault: ClientError? {
        if case .failure(let error) = wire { error } else { nil }
    }

    /// Adds names and values to the query of the URL, percent-encoded (RFC 3986 section 3.4). Where
    /// that makes no URL, ``fault`` says so.
    public mutating func addQuery(_ items: KeyValuePairs<String, String>) {
        guard !items.isEmpty, fault == nil else { return }
        var reference = URIReference(url.absoluteString)
        let added = items.map { name, value in
            "\(PercentEncoding.encode(name))=\(PercentEncoding.encode(value))"
        }
        let old = reference.query.map { $0.isEmpty ? [] : [$0] } ?? []
        reference.query = (old + added).joined(separator: "&")
        guard let url = URL(string: reference.text) else {
            return refuse(ClientError(.badURL, "not a URL: \(reference.text)"))
        }
        self.url = url
    }

    /// Sends a name and a password at once, by Basic, with this request alone (RFC 7617); to answer
    /// a challenge by what the server asks for is for ``credential``.
    /// - Throws: ``ClientError/Kind/badRequest`` for a name with a colon, and for control characters.
    public mutating func authorize(user: String, password: String) throws(ClientError) {
        guard let value = BasicAuthorization.value(user: user, password: password) else {
            throw ClientError(
                .badRequest, "Basic takes no colon in names and no control characters")
        }
        fields[.authorization] = value
    }

    /// Sends a token at once, by Bearer, with this request alone (RFC 6750 section 2.1).
    /// - Throws: ``ClientError/Kind/badRequest`` for what cannot be a token.
    public mutating func authorize(bearer token: String) throws(ClientError) {
        guard let value = BearerAuthorization.value(token: token) else {
            throw ClientError(.badRequest, "Bearer takes letters, digits and -._~+/ alone")
        }
        fields[.authorization] = value
    }
}
