import Foundation
import HTTPParser
import TestSupport
import Testing
import URLClient

/// What a peer of resumed downloads reads in the head of a request.
enum ResumeRequest {
    /// The value of a field in the head of a request.
    static func value(_ name: String, _ head: String) -> String? {
        head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("\(name): ") }
            .map { String($0.dropFirst(name.count + 2)) }
    }

    /// Where the range begins that a request asks for.
    static func start(_ head: String) -> Int? {
        value("range", head).flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
    }

    /// Downloads what the peer has, into a folder that must hold nothing else then.
    static func download(
        _ peer: ScriptedPeer, _ session: ClientSession = ClientSession()
    ) async throws -> [UInt8]? {
        let folder = try ServerDirectory()
        try await session.download(
            for: ClientRequest(.get, peer.url()), to: folder.path("file"))
        #expect(Files.names(folder.path) == ["file"])
        return Files.read(folder.path("file"))
    }
}
