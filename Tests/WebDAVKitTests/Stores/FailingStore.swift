import HTTPServerCore
import WebDAVKit

/// A store in memory whose final write fails, as on a full disk.
final class FailingStore: ResourceStore {
    let inner = MemoryStore()
    private let takesTimes: Bool
    private let listing: @Sendable (ResourcePath) -> WebDAVError?
    private let error: @Sendable (ResourcePath) -> WebDAVError?
    private let onChange: @Sendable (MemoryStore, ResourcePath) async throws -> Void

    /// - Parameters:
    ///   - takesTimes: whether clients may set modification times.
    ///   - error: the error of a write at a path.
    ///   - listing: the error of listing a collection.
    ///   - onChange: runs before properties are changed; its error fails the change.
    init(
        takesTimes: Bool = true,
        _ error: @escaping @Sendable (ResourcePath) -> WebDAVError? = { _ in nil },
        listing: @escaping @Sendable (ResourcePath) -> WebDAVError? = { _ in nil },
        onChange: @escaping @Sendable (MemoryStore, ResourcePath) async throws -> Void = { _, _ in }
    ) {
        (self.takesTimes, self.listing, self.error) = (takesTimes, listing, error)
        self.onChange = onChange
    }

    private func check(_ path: ResourcePath) throws {
        if let error = error(path) { throw error }
    }

    func info(at path: ResourcePath) async throws -> ResourceInfo {
        try await inner.info(at: path)
    }

    func members(
        of path: ResourcePath, withProperties: Bool
    ) async throws -> ResourceMembers {
        if let error = listing(path) { throw error }
        return try await inner.members(of: path, withProperties: withProperties)
    }

    func read(_ path: ResourcePath) async throws -> (info: ResourceInfo, body: ResponseBody) {
        try await inner.read(path)
    }

    func stage(
        _ body: RequestBody, for path: ResourcePath, expected: Int64?
    ) async throws -> any StagedContent {
        try await inner.stage(body, for: path, expected: expected)
    }

    func write(
        _ bytes: [UInt8], to path: ResourcePath, modified: Int64?
    ) async throws -> ResourceInfo {
        try check(path)
        return try await inner.write(bytes, to: path, modified: modified)
    }

    func place(
        _ content: any StagedContent, at path: ResourcePath, modified: Int64?
    ) async throws -> ResourceInfo {
        try check(path)
        return try await inner.place(content, at: path, modified: modified)
    }

    func makeCollection(at path: ResourcePath) async throws {
        try check(path)
        try await inner.makeCollection(at: path)
    }

    func remove(_ path: ResourcePath) async throws -> [ResourceFailure] {
        let members = try await inner.members(of: path, withProperties: false)
        var failures: [ResourceFailure] = []
        while let batch = try await members.next() {
            for member in batch {
                let inside = path.appending(member.name)
                if let error = error(inside) {
                    failures.append(ResourceFailure(inside, error))
                } else {
                    _ = try await inner.remove(inside)
                }
            }
        }
        return failures.isEmpty ? try await inner.remove(path) : failures
    }

    func copy(
        _ path: ResourcePath, to destination: ResourcePath, deep: Bool, replaces: Bool
    ) async throws {
        try check(destination)
        try await inner.copy(path, to: destination, deep: deep, replaces: replaces)
    }

    func move(
        _ path: ResourcePath, to destination: ResourcePath, replaces: Bool
    ) async throws {
        try check(destination)
        try await inner.move(path, to: destination, replaces: replaces)
    }

    func properties(of path: ResourcePath) async throws -> [DeadProperty] {
        try await inner.properties(of: path)
    }

    func change(_ changes: [PropertyChange], of path: ResourcePath) async throws {
        try check(path)
        try await onChange(inner, path)
        try await inner.change(changes, of: path)
    }

    func setModified(_ seconds: Int64, of path: ResourcePath) async throws {
        guard takesTimes else { throw WebDAVError.forbidden }
        try await inner.setModified(seconds, of: path)
    }
}
