internal import HTTPParser
public import Logging

/// Identifies a request by its connection and its number there. It is unique in the process.
public struct RequestID: Hashable, Sendable, CustomStringConvertible {
    /// The number of the connection; see `ConnectionInfo.id`.
    public let connection: UInt64
    /// The number of the request on its connection, from 1 on.
    public let number: Int

    /// Both numbers, such as `12-3`.
    public var description: String { "\(connection)-\(number)" }
}

/// The id of a request: from the client or an earlier server, or else made by this server.
package enum TraceKey: RequestKey { package typealias Value = String }

extension Request {
    /// The number of the connection, and of the request on it.
    public var id: RequestID {
        RequestID(connection: storage.connection.id, number: storage.number)
    }

    /// The identifier of the request in logs and at the client: the id of a `RequestIDHandler`,
    /// else `id`.
    public var traceID: String { self[TraceKey.self] ?? id.description }

    /// The server's logger, with connection, request, method and target as metadata.
    public var logger: Logger {
        var logger = storage.connection.logger
        logger[metadataKey: "request"] = "\(traceID)"
        logger[metadataKey: "method"] = "\(method.name)"
        logger[metadataKey: "target"] = "\(originalTarget.text)"
        return logger
    }
}

extension Request: CustomStringConvertible, CustomDebugStringConvertible {
    /// Method, path, version and peer. The query is left out: it may hold secrets.
    public var description: String {
        let path = originalTarget.query == nil ? originalTarget.text : originalTarget.path + "?…"
        return "\(method.name) \(path) \(version) from \(peer)"
    }

    /// The description and the fields, without values that may hold secrets; never content.
    public var debugDescription: String {
        let lines = fields.map { field in
            "\(field.name.text): \(Self.holdsSecrets(field.name) ? "…" : field.value)"
        }
        return ([description] + lines).joined(separator: "\n")
    }

    /// Whether a field may hold credentials or tokens, also as part of an address.
    private static func holdsSecrets(_ name: HTTPFieldName) -> Bool {
        switch name {
        case .authorization, .proxyAuthorization, .cookie, .referer: return true
        default:
            let text = name.text.lowercased()
            return ["token", "secret", "key", "password", "auth", "session"].contains {
                text.contains($0)
            }
        }
    }
}
