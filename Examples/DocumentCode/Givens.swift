import HTTPCodecs
import HTTPParser
import HTTPServerAuthentication
import HTTPServerCore
import HTTPServerDiscovery
import HTTPServerKit
import HTTPServerProxies
import HTTPServerTLS
import HTTPServerToolkit
import HTTPServerWebSocket
import HTTPToolkitTesting
import Logging
import ResumableUploads
import URLClient
import URLClientFoundation
import WebDAVKit
import WebSocketFrames
import WebUploader

// Things of the reader's own program that the documents mention. Scripts/snippets gives names to
// them, and compiles the documents beside this file.

/// A value as JSON.
struct Note: Codable, Sendable { var text: String }

/// A user of the program.
struct User: Sendable { var name: String }

/// A database of users.
struct Database: Sendable {
    func user(_ name: String) async throws -> (name: String, passwordHash: String)? { nil }
}

/// A directory service that checks passwords.
struct Directory: Sendable {
    func bind(_ name: String, _ password: String) async throws -> Bool { false }
}

/// The tokens that a program has given to users.
struct Tokens: Sendable {
    func user(of token: String) async throws -> String? { nil }
}

/// The addresses of a host, by the program's own means.
func addresses(of host: String, fresh: Bool) async throws -> [String] { [] }

/// A token in place of one that the server has refused.
func newToken(insteadOf refused: String?) async throws -> String? { nil }

/// A module that registers its handler.
enum Pictures {
    static func register(in registry: HandlerRegistry) {}
}

/// The bytes that each user has uploaded.
actor Usage {
    func bytes(of user: Identity) -> Int64 { 0 }
    func count(_ event: UploaderEvent) {}
}
