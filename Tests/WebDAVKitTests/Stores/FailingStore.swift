import HTTPServerCore
import WebDAVKit

/// A store in memory of which what is done last fails, as a disk that is full does.
final class FailingStore: ResourceStore {
    let inner = MemoryStore()
    private let error: @Sendable (ResourcePath) -> WebDAVError?

    /// - Parameter error: what writing at a path comes to.
    init(_ error: @escaping @Sendable (ResourcePath) -> WebDAVError?) {
        self.error = error
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
        try await inner.members(of: path, withProperties: withProperties)
    }

    func read(_ path: ResourcePath) async throws -> (info: ResourceInfo, body: ResponseBody) {
        try await inner.read(path)
    }

    func stage(
        _ body: RequestBody, for path: ResourcePath, expected: Int64?
    ) async throws -> any StagedContent {
        try await inner.stage(body, for: path, expected: expected)
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

    func copy(_ path: ResourcePath, to destination: ResourcePath, deep: Bool) async throws {
        try check(destination)
        try await inner.copy(path, to: destination, deep: deep)
    }

    func move(_ path: ResourcePath, to destination: ResourcePath) async throws {
        try check(destination)
        try await inner.move(path, to: destination)
    }

    func properties(of path: ResourcePath) async throws -> [DeadProperty] {
        try await inner.properties(of: path)
    }

    func change(_ changes: [PropertyChange], of path: ResourcePath) async throws {
        try check(path)
        try await inner.change(changes, of: path)
    }
}
