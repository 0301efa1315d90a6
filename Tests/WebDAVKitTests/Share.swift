import Foundation
import TestSupport
import WebDAVKit

/// A directory with something beside it that nobody is to reach.
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
}

/// The stores of which clients are to see no difference.
enum StoreKind: CaseIterable {
    case memory, local

    /// A client of a new one.
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
