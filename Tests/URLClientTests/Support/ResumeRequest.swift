import Foundation
import HTTPParser
import TestSupport
import Testing
import URLClient

/// Helpers of peers of resumed downloads, which read the head of a request.
enum ResumeRequest {
    /// The value of a field in the head of a request.
    static func value(_ name: String, _ head: String) -> String? {
        head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("\(name): ") }
            .map { String($0.dropFirst(name.count + 2)) }
    }

    /// The start of the range that a request has.
    static func start(_ head: String) -> Int? {
        value("range", head).flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
    }

    /// Downloads the peer's content into a folder, which must contain only that file afterwards.
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
