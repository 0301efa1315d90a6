public import HTTPParser

// Requests in one line. A wrong URL is an error of the call, as everything else is: there is nothing
// to unwrap before.
extension ClientSession {
    /// Sends a request and collects the content of the response, whatever its status.
    ///
    /// At most ``ClientConfiguration/collectLimit`` bytes are taken.
    /// - Throws: why there is no whole response; ``ClientError/Kind/badURL`` for what is no URL.
    public func send(_ request: ClientRequest) async throws(ClientError) -> CollectedResponse {
        let (content, response) = try await data(for: request)
        return CollectedResponse(content, response)
    }

    /// Fetches what a URL names.
    /// - Parameters:
    ///   - url: an absolute URL, http or https.
    ///   - query: names and values that are added to its query.
    ///   - fields: fields to send.
    /// - Throws: why there is no whole response; ``ClientError/Kind/badURL`` for what is no URL.
    public func get(
        _ url: String, query: KeyValuePairs<String, String> = [:], fields: HTTPFields = [:]
    ) async throws(ClientError) -> CollectedResponse {
        try await send(.get, url, query, fields, .none)
    }

    /// Sends content by POST.
    /// - Parameters:
    ///   - url: an absolute URL, http or https.
    ///   - query: names and values that are added to its query.
    ///   - fields: fields to send.
    ///   - body: the content.
    /// - Throws: why there is no whole response; ``ClientError/Kind/badURL`` for what is no URL.
    public func post(
        _ url: String, query: KeyValuePairs<String, String> = [:], fields: HTTPFields = [:],
        body: ClientBody
    ) async throws(ClientError) -> CollectedResponse {
        try await send(.post, url, query, fields, body)
    }

    /// Sends content by PUT.
    /// - Parameters:
    ///   - url: an absolute URL, http or https.
    ///   - query: names and values that are added to its query.
    ///   - fields: fields to send.
    ///   - body: the content.
    /// - Throws: why there is no whole response; ``ClientError/Kind/badURL`` for what is no URL.
    public func put(
        _ url: String, query: KeyValuePairs<String, String> = [:], fields: HTTPFields = [:],
        body: ClientBody
    ) async throws(ClientError) -> CollectedResponse {
        try await send(.put, url, query, fields, body)
    }

    /// Asks for the removal of what a URL names.
    /// - Parameters:
    ///   - url: an absolute URL, http or https.
    ///   - query: names and values that are added to its query.
    ///   - fields: fields to send.
    /// - Throws: why there is no whole response; ``ClientError/Kind/badURL`` for what is no URL.
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
