internal import HTTPParser

/// Answers requests in place of the network in tests of applications.
///
/// ```swift
/// var configuration = ClientConfiguration.ephemeral
/// configuration.transport = ClientTransport { request in
///     CollectedResponse(to: request, .ok, content: Array("hello".utf8))
/// }
/// ```
///
/// The transport replaces only the network: the session still handles cookies, credentials,
/// redirects, retries, the cache and delegates. Only ``ClientTimeouts/total`` limits the
/// transport's time, and transactions are not measured.
public struct ClientTransport: Sendable {
    let answer: @Sendable (ClientRequest) async throws -> CollectedResponse

    /// Creates a transport.
    /// - Parameter answer: returns the response, with decoded content, to a request with all fields
    ///   that the session adds. The transaction fails with a ``ClientError`` that this closure
    ///   throws; other errors become ``ClientError/Kind/hookFailed``.
    public init(_ answer: @escaping @Sendable (ClientRequest) async throws -> CollectedResponse) {
        self.answer = answer
    }
}

extension ClientBody {
    /// Collects all of the content, as it would be sent.
    /// - Parameter byteLimit: the most bytes of content.
    /// - Throws: ``ClientError/Kind/contentTooLong`` above the limit,
    ///   ``ClientError/Kind/bodyNotReplayable`` for a stream that was already read, and
    ///   ``ClientError/Kind/bodyFailed`` if making or reading the content fails.
    public func collect(upTo byteLimit: Int) async throws(ClientError) -> [UInt8] {
        var all: [UInt8] = []
        do {
            guard let pull = try await pull() else {
                throw ClientError(.bodyNotReplayable, "a stream can be sent once")
            }
            while let piece = try await pull() {
                guard piece.count <= byteLimit - all.count else {
                    throw ClientError(.contentTooLong, "more than \(byteLimit) bytes")
                }
                all += piece
            }
        } catch let error as ClientError {
            throw error
        } catch {
            throw ClientError(.bodyFailed, "\(error)", underlying: error)
        }
        return all
    }
}
