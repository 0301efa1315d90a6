import Foundation
import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem
import WebDAVKit

/// A shared directory next to a secret file that clients must not reach.
final class Share: Sendable {
    let outer: String
    var path: String { outer + "/share" }

    init() throws {
        outer = TestFolder.name("webdav-")
        try FileManager.default.createDirectory(
            atPath: outer + "/share", withIntermediateDirectories: true)
        try write("secret", "../secret")
    }

    deinit { TestFolder.remove(outer) }

    func write(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/" + name))
    }

    func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: path + "/" + name)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: path + "/" + name, withDestinationPath: target)
    }

    func client() throws -> DAVClient { DAVClient(store: try LocalStore(root: path)) }

    /// Content in a file outside of the directory, as after an upload. It is too long to be staged
    /// in memory.
    func part(_ name: String = "part") throws -> ContentFile {
        let text = String(repeating: "content\n", count: 12_500)
        try write(text, "../" + name)
        let place = FilePlace(
            directory: try FileTree(outer).directory([]), name: Array(name.utf8))
        return ContentFile(
            try place.directory.openForAppending(place.name), at: place,
            length: Int64(text.utf8.count))
    }
}

extension LocalStore {
    /// Places the content of a file at a path, as at the end of an upload.
    func place(_ part: ContentFile, at name: String) async throws {
        let path = try #require(ResourcePath(name))
        let content = try await stage(.file(part), for: path, expected: part.length)
        _ = try await place(content, at: path, modified: nil)
    }
}

/// The stores that must behave alike for clients.
enum StoreKind: CaseIterable {
    case memory, local

    /// A client of a new store.
    func client(_ options: WebDAVOptions = WebDAVOptions()) throws -> DAVClient {
        switch self {
        case .memory: return DAVClient(options: options)
        case .local:
            let share = try Share()
            var client = DAVClient(store: try LocalStore(root: share.path), options: options)
            client.share = share
            return client
        }
    }
}
