import Foundation
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem
import WebDAVKit

@Suite("Stores: what a move or a copy may replace")
struct TakenNameTests {
    @Test(
        "A name that another program has taken meanwhile keeps its file", arguments: [false, true])
    func takenMeanwhile(inMemory: Bool) async throws {
        let share = try Share()
        let store: any ResourceStore = try inMemory ? MemoryStore() : LocalStore(root: share.path)
        let (one, two) = (try #require(ResourcePath("one")), try #require(ResourcePath("other")))
        for path in [one, two] {
            _ = try await store.write(Array("\(path)".utf8), to: path, modified: nil)
        }
        let error = await #expect(throws: WebDAVError.self) {
            try await store.move(one, to: two, replaces: false)
        }
        #expect(error?.status == .preconditionFailed)
        await #expect(throws: WebDAVError.self) {
            try await store.copy(one, to: two, deep: true, replaces: false)
        }
        for path in [one, two] {
            #expect(try await store.read(path).info.length == Int64("\(path)".utf8.count))
        }
        try await store.move(one, to: two, replaces: true)
        await #expect(throws: WebDAVError.self) { try await store.info(at: one) }
    }
}
