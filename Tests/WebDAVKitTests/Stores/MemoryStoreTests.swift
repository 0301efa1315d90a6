import HTTPParser
import HTTPServerCore
import Testing
import WebDAVKit

@Suite("MemoryStore: entity tags, and moves of paths that overlap")
struct MemoryStoreTests {
    /// RFC 9110 section 8.8.1: a client may have the tags of an earlier run.
    @Test("A new store gives other entity tags than the last one")
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

    @Test("A collection moves neither into itself nor onto one around it")
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
