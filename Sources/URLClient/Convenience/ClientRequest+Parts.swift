internal import HTTPCodecs
internal import HTTPParser

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension ClientRequest {
    /// The error for an invalid URL, or a URL that is neither http nor https; nil for a valid one.
    /// A task for the request fails with the same error.
    public var fault: ClientError? {
        if case .failure(let error) = wire { error } else { nil }
    }

    /// Adds names and values to the query of the URL, percent-encoded (RFC 3986 section 3.4).
    /// ``fault`` is set if the result is not a URL.
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

    /// Sends a user name and password with this request only, by Basic and without a challenge (RFC
    /// 7617). Use ``credential`` to answer the server's challenge by the scheme that it asks for.
    /// - Throws: ``ClientError/Kind/badRequest`` for a user name with a colon, and for control
    ///   characters.
    public mutating func authorize(user: String, password: String) throws(ClientError) {
        guard let value = BasicAuthorization.value(user: user, password: password) else {
            throw ClientError(
                .badRequest, "Basic takes no colon in names and no control characters")
        }
        fields[.authorization] = value
    }

    /// Sends a token with this request only, by Bearer and without a challenge (RFC 6750 section
    /// 2.1).
    /// - Throws: ``ClientError/Kind/badRequest`` for an invalid token.
    public mutating func authorize(bearer token: String) throws(ClientError) {
        guard let value = BearerAuthorization.value(token: token) else {
            throw ClientError(.badRequest, "Bearer takes letters, digits and -._~+/ alone")
        }
        fields[.authorization] = value
    }
}
