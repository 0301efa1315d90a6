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
/// Everything but the network is the session's: cookies, credentials, redirects, retries, the cache and
/// delegates. Only ``ClientTimeouts/total`` limits the time, and nothing is measured.
public struct ClientTransport: Sendable {
    let answer: @Sendable (ClientRequest) async throws -> CollectedResponse

    /// Creates a transport.
    /// - Parameter answer: gives the response to a request as it would go out, with all that the
    ///   session adds to it; content coding is taken off already. A ``ClientError`` that it throws is
    ///   the transaction's error, and others become ``ClientError/Kind/hookFailed``.
    public init(_ answer: @escaping @Sendable (ClientRequest) async throws -> CollectedResponse) {
        self.answer = answer
    }
}

extension ClientBody {
    /// All of the content, as it would be sent.
    /// - Parameter byteLimit: the most bytes of it.
    /// - Throws: ``ClientError/Kind/contentTooLong`` above the limit, and what making or reading the
    ///   content throws, as ``ClientError/Kind/bodyFailed``.
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
