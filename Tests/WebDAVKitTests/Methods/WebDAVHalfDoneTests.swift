import HTTPServerCore
import TestSupport
import Testing
import WebDAVKit

/// A store in memory that moves by copying. It removes the member `gone` and fails for `kept`.
private final class HalfRemovingStore: WrappingStore {
    let inner = MemoryStore()

    func remove(_ path: ResourcePath) async throws -> [ResourceFailure] {
        _ = try await inner.remove(path.appending(Array("gone".utf8)))
        return [ResourceFailure(path.appending(Array("kept".utf8)), .forbidden)]
    }
}

/// Another program may create a file with the name of a removed member. An old lock would refuse
/// all changes of that file.
@Suite("A change that fails partly leaves no locks on removed members")
struct WebDAVHalfDoneTests {
    @Test(arguments: [("DELETE", 207, [String]()), ("MOVE", 403, ["Destination: /dav/t"])])
    func locksOfRemovedMembers(
        _ method: String, _ status: Int, _ fields: [String]
    ) async throws {
        let locks = MemoryLockStore()
        let client = DAVClient(store: HalfRemovingStore(), locks: locks)
        #expect(try await client.status("MKCOL", "/dav/s") == 201)
        var lists = ""
        for path in ["/dav/s/gone", "/dav/s/kept"] {
            #expect(try await client.status("PUT", path, [], "x") == 201)
            lists += " <\(path)> (<\(try await client.lock(path))>)"
        }
        let shown = ["If:" + lists]
        #expect(try await client.status(method, "/dav/s", fields + shown) == status)
        #expect(try await client.status("GET", "/dav/s/gone") == 404)
        let left = try await locks.locks(on: .root, andInside: true)
        #expect(left.map(\.root.description) == ["/s/kept"])
    }
}
