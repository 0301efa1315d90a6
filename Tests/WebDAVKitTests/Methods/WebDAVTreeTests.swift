import HTTPParser
import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem
import WebDAVKit

@Suite("Listing a whole tree")
struct WebDAVTreeTests {
    /// A store that records the collections that a listing opens, and returns members in batches.
    private final class RecordingStore: WrappingStore {
        typealias Hook =
            @Sendable (RecordingStore, _ path: String, _ batch: Int?) async throws -> Void

        let inner = MemoryStore()
        private let state = Locked<[String]>([])
        private let batchCount: Int
        private let hook: Hook

        /// - Parameters:
        ///   - batchCount: the maximum number of members in a batch.
        ///   - hook: runs before a collection is opened, and before each of its batches. The number
        ///     of the first batch is 0.
        init(batchCount: Int = 100, hook: @escaping Hook = { _, _, _ in }) {
            (self.batchCount, self.hook) = (batchCount, hook)
        }

        var opened: [String] { state.withLock { $0 } }

        func members(
            of path: ResourcePath, withProperties: Bool
        ) async throws -> ResourceMembers {
            state.withLock { $0.append(path.description) }
            try await hook(self, path.description, nil)
            let members = try await inner.members(of: path, withProperties: withProperties)
            let all = try await members.next() ?? []
            let next = Locked(0)
            return ResourceMembers { [self] in
                let number = next.withLock { next in
                    defer { next += 1 }
                    return next
                }
                try await hook(self, path.description, number)
                let batch = all.dropFirst(number * batchCount).prefix(batchCount)
                return batch.isEmpty ? nil : Array(batch)
            }
        }
    }

    /// A tree of these paths; paths of collections end in a slash.
    private static func client(
        _ store: RecordingStore, _ paths: [String]
    ) async throws -> DAVClient {
        let client = DAVClient(store: store)
        for path in paths {
            let method = path.hasSuffix("/") ? "MKCOL" : "PUT"
            #expect(try await client.status(method, "/dav/" + path) == 201)
        }
        return client
    }

    private static func list(_ client: DAVClient) async throws -> [String] {
        let answer = try await client.send("PROPFIND", "/dav/", ["Depth: infinity"])
        #expect(answer.status == 207)
        return answer.text.matches(of: /<D:href>\/dav\/([^<]*)<\/D:href>/)
            .map { String($0.output.1) }
    }

    private static let three = ["a/", "a/f", "b/", "b/f", "c/", "c/f"]

    @Test("A collection is opened while the previous one is written")
    func readAhead() async throws {
        let following = ["/c": "/b", "/b": "/a"]
        let store = RecordingStore { store, path, batch in
            guard let following = following[path], batch == 1 else { return }
            try await waitUntil(within: .seconds(20)) { store.opened.contains(following) }
        }
        let client = try await Self.client(store, Self.three)
        #expect(try await Self.list(client) == ["", "c/", "c/f", "b/", "b/f", "a/", "a/f"])
        #expect(store.opened == ["/", "/c", "/b", "/a"])
    }

    @Test("Each collection is opened once, at any size of the batches", arguments: [1, 2, 3, 100])
    func batches(_ count: Int) async throws {
        let tree = [
            "a/", "a/f", "b/", "b/c/", "b/c/d/", "b/c/d/f", "b/c/e/", "b/f", "b/g/", "b/h", "b/i/",
            "b/i/j/", "b/i/j/f", "f", "k/", "l/", "l/f", "l/m/", "l/m/f", "n",
        ]
        let store = RecordingStore(batchCount: count)
        let listed = try await Self.list(try await Self.client(store, tree))
        #expect(listed.sorted() == [""] + tree)
        for (index, path) in listed.enumerated() where path != "" {
            let parent = path.split(separator: "/").dropLast().map { $0 + "/" }.joined()
            #expect(listed[..<index].contains(parent), "\(path)")
        }
        let collections = [""] + tree.filter { $0.hasSuffix("/") }.map { $0.dropLast() }
        #expect(store.opened.sorted() == collections.map { "/" + $0 })
    }

    @Test("A listing ends when its client disconnects, also while a collection is read ahead")
    func lostClient() async throws {
        let ended = Locked(0)
        let store = RecordingStore { store, path, batch in
            guard path == "/b", batch == nil else { return }
            defer { ended.withLock { $0 += 1 } }
            try await Task.sleep(for: .seconds(60))
        }
        let client = try await Self.client(store, Self.three)
        let connection = MemoryConnection(client.router)
        connection.send("PROPFIND /dav/ HTTP/1.1\r\nHost: h\r\n\r\n")
        try await waitUntil { store.opened.contains("/b") }
        connection.hangUp()
        try await waitUntil(within: .seconds(20)) { ended.withLock { $0 } == 1 }
        _ = try await connection.closed()
    }
}
