import HTTPServerCore
import WebDAVKit

/// A store that forwards the members that it does not implement to another store.
protocol WrappingStore: ResourceStore {
    associatedtype Inner: ResourceStore
    var inner: Inner { get }
}

extension WrappingStore {
    func info(at path: ResourcePath) async throws -> ResourceInfo {
        try await inner.info(at: path)
    }

    func members(
        of path: ResourcePath, withProperties: Bool
    ) async throws -> ResourceMembers {
        try await inner.members(of: path, withProperties: withProperties)
    }

    func read(_ path: ResourcePath) async throws -> (info: ResourceInfo, body: ResponseBody) {
        try await inner.read(path)
    }

    func write(
        _ bytes: [UInt8], to path: ResourcePath, modified: Int64?
    ) async throws -> ResourceInfo {
        try await inner.write(bytes, to: path, modified: modified)
    }

    func makeCollection(at path: ResourcePath) async throws {
        try await inner.makeCollection(at: path)
    }

    func remove(_ path: ResourcePath) async throws -> [ResourceFailure] {
        try await inner.remove(path)
    }
}
