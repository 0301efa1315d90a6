import Foundation
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem
import WebDAVKit

@Suite("Stores: Replacement by moves and copies")
struct TakenNameTests {
    @Test(
        "Without replacement a move or copy to an existing file fails and changes nothing",
        arguments: [false, true])
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

    @Test(
        "A missing source, or one that is the destination, loses no file", arguments: [false, true])
    func missingSource(inMemory: Bool) async throws {
        let share = try Share()
        let store: any ResourceStore = try inMemory ? MemoryStore() : LocalStore(root: share.path)
        let (gone, report) = (
            try #require(ResourcePath("gone")), try #require(ResourcePath("report"))
        )
        _ = try await store.write(Array("text".utf8), to: report, modified: nil)
        for deep in [false, true] {
            let error = await #expect(throws: WebDAVError.self) {
                try await store.copy(gone, to: report, deep: deep, replaces: true)
            }
            #expect(error?.status == .notFound)
        }
        let error = await #expect(throws: WebDAVError.self) {
            try await store.move(gone, to: report, replaces: true)
        }
        #expect(error?.status == .notFound)
        try await store.move(report, to: report, replaces: true)
        let info = try await store.info(at: report)
        #expect(info.length == 4)
    }
}
