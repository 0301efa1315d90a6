import HTTPParser
import HTTPServerCore
import Testing
import WebDAVKit

@Suite("MemoryStore: Entity tags, and moves of overlapping paths")
struct MemoryStoreTests {
    /// RFC 9110, 8.8.1: a client may have entity tags of an earlier run.
    @Test("Each store gives different entity tags")
    func tagsOfAnEarlierRun() async throws {
        let stores: [any ResourceStore] = [MemoryStore(), MemoryStore(), NoteStore(), NoteStore()]
        let path = try #require(ResourcePath("report"))
        var tags: Set<EntityTag> = []
        for (number, store) in stores.enumerated() {
            let info = try await store.write([UInt8(number)], to: path, modified: nil)
            tags.insert(try #require(info.entityTag))
        }
        #expect(tags.count == stores.count, "\(tags)")
    }

    @Test("A collection can be moved neither into itself nor onto a parent")
    func overlappingMoves() async throws {
        let store = MemoryStore()
        let (outer, inner) = (try #require(ResourcePath("a")), try #require(ResourcePath("a/b")))
        for path in [outer, inner] { try await store.makeCollection(at: path) }
        for (source, target) in [(outer, inner), (inner, outer)] {
            let error = await #expect(throws: WebDAVError.self) {
                try await store.move(source, to: target, replaces: true)
            }
            #expect(error?.status == .forbidden)
        }
        for path in [outer, inner] {
            let info = try await store.info(at: path)
            #expect(info.isCollection)
        }
    }
}
