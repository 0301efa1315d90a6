public import HTTPParser

// Requests in one line. An invalid URL is an error of the call, so callers need not unwrap a URL
// first.
extension ClientSession {
    /// Sends a request and collects the content of the response. A response with any status is
    /// returned.
    /// - Throws: the error that kept the response from being complete; ``ClientError/Kind/badURL``
    ///   for an invalid URL. Content that is longer than ``ClientConfiguration/collectLimit``
    ///   throws ``ClientError/Kind/contentTooLong``.
    public func send(_ request: ClientRequest) async throws(ClientError) -> CollectedResponse {
        let (content, response) = try await data(for: request)
        return CollectedResponse(content, response)
    }

    /// Sends a GET request.
    /// - Parameters:
    ///   - url: an absolute URL, http or https.
    ///   - query: names and values to add to the URL's query.
    ///   - fields: the fields to send.
    /// - Throws: the error that kept the response from being complete; ``ClientError/Kind/badURL``
    ///   for an invalid URL. Content that is longer than ``ClientConfiguration/collectLimit``
    ///   throws ``ClientError/Kind/contentTooLong``.
    public func get(
        _ url: String, query: KeyValuePairs<String, String> = [:], fields: HTTPFields = [:]
    ) async throws(ClientError) -> CollectedResponse {
        try await send(.get, url, query, fields, .none)
    }

    /// Sends content by POST.
    /// - Parameters:
    ///   - url: an absolute URL, http or https.
    ///   - query: names and values to add to the URL's query.
    ///   - fields: the fields to send.
    ///   - body: the content.
    /// - Throws: the error that kept the response from being complete; ``ClientError/Kind/badURL``
    ///   for an invalid URL. Content that is longer than ``ClientConfiguration/collectLimit``
    ///   throws ``ClientError/Kind/contentTooLong``.
    public func post(
        _ url: String, query: KeyValuePairs<String, String> = [:], fields: HTTPFields = [:],
        body: ClientBody
    ) async throws(ClientError) -> CollectedResponse {
        try await send(.post, url, query, fields, body)
    }

    /// Sends content by PUT.
    /// - Parameters:
    ///   - url: an absolute URL, http or https.
    ///   - query: names and values to add to the URL's query.
    ///   - fields: the fields to send.
    ///   - body: the content.
    /// - Throws: the error that kept the response from being complete; ``ClientError/Kind/badURL``
    ///   for an invalid URL. Content that is longer than ``ClientConfiguration/collectLimit``
    ///   throws ``ClientError/Kind/contentTooLong``.
    public func put(
        _ url: String, query: KeyValuePairs<String, String> = [:], fields: HTTPFields = [:],
        body: ClientBody
    ) async throws(ClientError) -> CollectedResponse {
        try await send(.put, url, query, fields, body)
    }

    /// Sends a DELETE request.
    /// - Parameters:
    ///   - url: an absolute URL, http or https.
    ///   - query: names and values to add to the URL's query.
    ///   - fields: the fields to send.
    /// - Throws: the error that kept the response from being complete; ``ClientError/Kind/badURL``
    ///   for an invalid URL. Content that is longer than ``ClientConfiguration/collectLimit``
    ///   throws ``ClientError/Kind/contentTooLong``.
    public func delete(
        _ url: String, query: KeyValuePairs<String, String> = [:], fields: HTTPFields = [:]
    ) async throws(ClientError) -> CollectedResponse {
        try await send(.delete, url, query, fields, .none)
    }

    private func send(
        _ method: HTTPMethod, _ url: String, _ query: KeyValuePairs<String, String>,
        _ fields: HTTPFields, _ body: ClientBody
    ) async throws(ClientError) -> CollectedResponse {
        var request = ClientRequest(method, url, fields: fields, body: body)
        request.addQuery(query)
        return try await send(request)
    }
}
