import Foundation
import HTTPServerCore
import TestSupport
import Testing
import WebDAVKit

/// A hook makes every request asynchronous. Both code paths must give the same responses.
@Suite("Small changes: Immediate and in a task")
struct ImmediateTests {
    private struct Step: Sendable {
        var method: String
        var path: String
        var fields: [String] = []
        var content = ""
    }

    private static func patch(_ property: String) -> String {
        "<propertyupdate xmlns=\"DAV:\"><set><prop>\(property)</prop></set></propertyupdate>"
    }

    private static let steps: [Step] = [
        Step(method: "PUT", path: "a.txt", content: "one"),
        Step(method: "PUT", path: "a.txt", fields: ["Content-Type: text/x-a"], content: "two"),
        Step(method: "PUT", path: "a.txt", fields: ["If-None-Match: *"], content: "no"),
        Step(method: "PUT", path: "a.txt", fields: ["Content-Language: de"], content: "drei"),
        Step(method: "PUT", path: "a.txt", fields: ["X-OC-Mtime: 1000000000"], content: "4"),
        Step(method: "PUT", path: "a.txt", fields: ["OC-Checksum: MD5:00"], content: "no"),
        Step(method: "PUT", path: "a.txt", fields: ["Content-Range: bytes 0-1/2"], content: "no"),
        Step(method: "PUT", path: "empty"),
        Step(method: "PUT", path: "missing/a", content: "no"),
        Step(method: "PUT", path: ".hidden", content: "no"),
        Step(method: "PUT", path: "%C3%A9.txt", content: "e"),
        Step(method: "PUT", path: "bad%01", content: "no"),
        Step(
            method: "PUT", path: "chunked", fields: ["Transfer-Encoding: chunked"],
            content: "3\r\nabc\r\n0\r\n\r\n"),
        Step(method: "MKCOL", path: "folder"),
        Step(method: "MKCOL", path: "folder"),
        Step(method: "MKCOL", path: "missing/folder"),
        Step(method: "MKCOL", path: "other/", content: "text"),
        Step(method: "PUT", path: "folder", content: "no"),
        Step(method: "PUT", path: "folder/b", content: "b"),
        Step(method: "PROPPATCH", path: "a.txt", content: patch("<p xmlns='u:'>1</p>")),
        Step(method: "PROPPATCH", path: "a.txt", content: patch("<getetag>1</getetag>")),
        Step(method: "PROPPATCH", path: "a.txt", content: patch("<lastmodified>7</lastmodified>")),
        Step(
            method: "PROPPATCH", path: "a.txt", fields: ["Prefer: return=minimal"],
            content: patch("<q xmlns='u:'>2</q>")),
        Step(method: "PROPPATCH", path: "missing", content: patch("<p xmlns='u:'>1</p>")),
        Step(method: "PROPPATCH", path: "a.txt", content: "<no/>"),
        Step(method: "PROPPATCH", path: "link", content: patch("<r xmlns='u:'>3</r>")),
        Step(method: "LOCK", path: "a.txt", fields: ["Depth: 0"], content: DAVClient.lockInfo()),
        Step(method: "LOCK", path: "a.txt", fields: ["Depth: 0"], content: DAVClient.lockInfo()),
        Step(method: "LOCK", path: "a.txt", fields: ["Depth: 1"], content: DAVClient.lockInfo()),
        Step(method: "LOCK", path: "new", content: DAVClient.lockInfo("shared")),
        Step(method: "LOCK", path: "folder", content: DAVClient.lockInfo()),
        Step(method: "LOCK", path: "link", fields: ["Depth: 0"], content: DAVClient.lockInfo()),
        Step(method: "LOCK", path: "empty", content: "<no/>"),
        Step(method: "LOCK", path: "empty"),
        Step(method: "PUT", path: "a.txt", content: "locked"),
        Step(method: "PUT", path: "folder/b", content: "locked"),
        Step(method: "PUT", path: "folder/c", content: "locked"),
        Step(method: "MKCOL", path: "folder/d"),
        Step(method: "PROPPATCH", path: "a.txt", content: patch("<p xmlns='u:'>5</p>")),
        Step(method: "UNLOCK", path: "a.txt", fields: ["Lock-Token: <urn:uuid:no>"]),
        Step(method: "UNLOCK", path: "a.txt"),
        Step(method: "UNLOCK", path: "empty", fields: ["Lock-Token: <TOKEN>"]),
        Step(method: "UNLOCK", path: "link", fields: ["Lock-Token: <urn:uuid:no>"]),
        Step(method: "UNLOCK", path: "a.txt", fields: ["Lock-Token: <TOKEN>"]),
        Step(method: "UNLOCK", path: "a.txt", fields: ["Lock-Token: <TOKEN>"]),
        Step(method: "PUT", path: "a.txt", content: "free"),
        Step(
            method: "PROPFIND", path: "a.txt", fields: ["Depth: 0"],
            content: "<propfind xmlns='DAV:'><prop><p xmlns='u:'/><q xmlns='u:'/>"
                + "<r xmlns='u:'/><getcontenttype/><getcontentlanguage/></prop></propfind>"),
    ]

    /// The responses, without the parts that differ from run to run.
    private func answers(_ options: WebDAVOptions) async throws -> [String] {
        let share = try Share()
        try share.link("link", to: "a.txt")
        let client = DAVClient(
            store: try LocalStore(root: share.path), options: options, prefix: "/dav")
        var (answers, token): ([String], String?) = ([], nil)
        for step in Self.steps {
            let fields = step.fields.map { $0.replacingOccurrences(of: "TOKEN", with: token ?? "") }
            let answer = try await client.send(
                step.method, "/dav/\(step.path)", fields, step.content)
            let field = answer["Lock-Token"].map { String($0.dropFirst().dropLast()) }
            var text = String(decoding: answer.content, as: UTF8.self)
            for known in [field, token] {
                if let known { text = text.replacingOccurrences(of: known, with: "TOKEN") }
            }
            token = token ?? field
            text = text.replacing(/urn:uuid:[-0-9a-f]+/, with: "TOKEN")
            let names = ["ETag", "Lock-Token", "X-OC-MTime", "Preference-Applied", "Content-Type"]
            let shown = names.filter { answer[$0] != nil }
            answers.append("\(step.method) \(step.path): \(answer.status) \(shown) \(text)")
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: share.path).sorted() {
            answers.append("\(name): \(share.text(name) ?? "-")")
        }
        return answers
    }

    @Test("Both code paths give the same responses and leave the same files")
    func alike() async throws {
        var options = WebDAVOptions()
        let direct = try await answers(options)
        options.didPerform = { _, _ in }
        let later = try await answers(options)
        #expect(direct.count == later.count)
        for (one, other) in zip(direct, later) { #expect(one == other) }
    }

    @Test("UNLOCK of a member removes a lock on its tree, and UNLOCK of other paths does not")
    func unlockInside() async throws {
        let client = try StoreKind.local.client()
        for path in ["c", "c/d", "other"] {
            #expect(try await client.status("MKCOL", "/dav/" + path) == 201)
        }
        let field = "Lock-Token: <\(try await client.lock("/dav/c"))>"
        for path in ["other", "c-"] {
            #expect(try await client.status("UNLOCK", "/dav/" + path, [field]) == 409, "\(path)")
        }
        #expect(try await client.status("MKCOL", "/dav/c/e") == 423)
        #expect(try await client.status("UNLOCK", "/dav/c/d/", [field]) == 204)
        #expect(try await client.status("UNLOCK", "/dav/c/d/", [field]) == 409)
        #expect(try await client.status("MKCOL", "/dav/c/e") == 201)
    }

    @Test("Requests that cannot wait get their response without a task")
    func now() throws {
        let share = try Share()
        let store = try LocalStore(root: share.path)
        #expect(WebDAVHandler(store: store).answersAtOnce)
        var options = WebDAVOptions()
        options.shouldPerform = { _, _ in true }
        #expect(!WebDAVHandler(store: store, options: options).answersAtOnce)
        #expect(!WebDAVHandler(store: MemoryStore()).answersAtOnce)
        let file = try MemoryLockStore(file: share.outer + "/locks")
        #expect(!WebDAVHandler(store: store, locks: file).answersAtOnce)
        // A synchronizing store makes changes asynchronously.
        let synchronized = try LocalStore(root: share.path, synchronizes: true)
        let path = try #require(ResourcePath("a"))
        #expect(try !synchronized.makeCollectionNow(at: path))
        #expect(try !synchronized.changeNow([], of: path))
        let placed = try synchronized.placeNow(
            [1], ContentDescription(), at: path, modified: nil
        ) { _ in true }
        #expect(placed == nil)
        #expect(share.text("a") == nil)
    }

    @Test("A path that another request holds is not changed immediately")
    func held() throws {
        let lock = PathLock()
        let (inner, outer) = (try #require(ResourcePath("a/b")), try #require(ResourcePath("a")))
        let result = lock.holdNow([outer]) { lock.holdNow([inner]) { 1 } ?? 2 }
        #expect(result == 2)
        #expect(lock.holdNow([inner]) { 3 } == 3)
    }
}
