package import HTTPParser
package import URLClient

/// Sends requests as applications do: by `URLClient`, with a separate session.
///
/// Tests of the bytes on the wire use plain sockets and curl instead.
package struct TestClient: Sendable {
    /// The session. It ends with this client.
    package let session: ClientSession
    /// The URL before the path, without a slash at the end.
    package let base: String
    private let target: ConnectTarget?

    /// - Parameters:
    ///   - base: the URL before the path, such as `http://127.0.0.1:8080`.
    ///   - target: where to connect to instead.
    ///   - change: changes the configuration, in which cookies, cache and redirects are off.
    package init(
        _ base: String, at target: ConnectTarget? = nil,
        _ change: (inout ClientConfiguration) -> Void = { _ in }
    ) {
        var configuration = ClientConfiguration.default
        (configuration.cookies, configuration.cache) = (nil, nil)
        configuration.redirects.isEnabled = false
        configuration.timeouts.total = .seconds(110)
        change(&configuration)
        session = ClientSession(configuration)
        self.base = base
        self.target = target
    }

    /// A client of a server at 127.0.0.1, which speaks TLS where the test has `TestTLS`.
    package init(
        port: UInt16, _ change: (inout ClientConfiguration) -> Void = { _ in }
    ) {
        self.init("\(TestTLS.scheme)://127.0.0.1:\(port)") { configuration in
            if let tls = TestTLS.current { configuration.tls.authorities = .file(tls.authority) }
            change(&configuration)
        }
    }

    /// A response with its content.
    package struct Answer: Sendable {
        package let content: [UInt8]
        package let response: ClientResponse
        package var status: HTTPStatus { response.status }
        package var fields: HTTPFields { response.fields }
        package var text: String { String(decoding: content, as: UTF8.self) }
    }

    /// A request for a path that is percent-encoded already.
    package func request(
        _ method: HTTPMethod, _ path: String, fields: HTTPFields = [:], body: ClientBody = .none
    ) -> ClientRequest {
        var request = ClientRequest(method, base + path, fields: fields, body: body)
        request.connectTo = target
        return request
    }

    /// Sends a request and waits for the whole response.
    package func send(
        _ method: HTTPMethod, _ path: String, fields: HTTPFields = [:], body: ClientBody = .none
    ) async throws -> Answer {
        let request = request(method, path, fields: fields, body: body)
        let (content, response) = try await session.data(for: request)
        return Answer(content: content, response: response)
    }

    /// Sends a GET request for a path.
    package func get(_ path: String = "/", _ fields: HTTPFields = [:]) async throws -> Answer {
        try await send(.get, path, fields: fields)
    }
}
