import Foundation
import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem
import WebDAVKit

@Suite("WebDAV: Visible and accepted names, limits, and hooks")
struct WebDAVShownTests {
    @Test func extensionsCountInAnyCase() async throws {
        var options = WebDAVOptions()
        options.allowedExtensions = ["TXT", "Md"]
        let client = DAVClient(options: options)
        for name in ["a.txt", "b.TXT", "c.md"] {
            #expect(try await client.status("PUT", "/dav/" + name, [], "x") == 201, "\(name)")
            #expect(try await client.send("GET", "/dav/" + name).text == "x")
        }
        #expect(try await client.status("PUT", "/dav/a.exe", [], "x") == 403)
        let list = try await client.send("PROPFIND", "/dav/", ["Depth: 1"]).text
        #expect(list.matches(of: /<D:response>/).count == 4)
    }

    @Test func theFilesOfFinderCanBeRefusedAlone() async throws {
        let store = MemoryStore()
        var options = WebDAVOptions()
        options.allowsHidden = true
        let all = DAVClient(store: store, options: options)
        options.blocksAppleDouble = true
        let client = DAVClient(store: store, options: options)
        #expect(try await client.status("PUT", "/dav/.profile", [], "x") == 201)
        #expect(try await client.status("PUT", "/dav/._", [], "x") == 403)
        #expect(try await client.status("PUT", "/dav/.DS_Storex", [], "x") == 201)
        for name in ["._a", ".DS_Store"] {
            #expect(try await client.status("PUT", "/dav/" + name, [], "x") == 403)
            #expect(try await client.status("MKCOL", "/dav/" + name) == 403)
            let locked = try await client.status(
                "LOCK", "/dav/" + name, [], DAVClient.lockInfo())
            #expect(locked == 403)
            let moved = try await client.status(
                "COPY", "/dav/.profile", ["Destination: /dav/" + name])
            #expect(moved == 403)
            #expect(try await all.status("PUT", "/dav/" + name, [], "x") == 201)
            #expect(try await client.status("GET", "/dav/" + name) == 404)
            #expect(try await client.status("PROPFIND", "/dav/" + name, ["Depth: 0"]) == 404)
        }
        #expect(try await all.status("MKCOL", "/dav/._c") == 201)
        #expect(try await client.status("PUT", "/dav/._c/a", [], "x") == 403)
        let list = try await client.send("PROPFIND", "/dav/").text
        #expect(list.contains("/dav/.profile<") && list.contains("/dav/.DS_Storex<"))
        #expect(!list.contains("/dav/._") && !list.contains(".DS_Store<"))
    }

    @Test func collectionsNeedNotBeShownAsPages() async throws {
        var options = WebDAVOptions()
        options.listsCollections = false
        let client = DAVClient(options: options)
        #expect(try await client.status("PUT", "/dav/secret", [], "x") == 201)
        for method in ["GET", "HEAD"] {
            let page = try await client.send(method, "/dav/")
            #expect(page.status == 200 && page.text.isEmpty)
        }
        #expect(try await client.send("PROPFIND", "/dav/").text.contains("secret"))
    }

    @Test func aLockThatMakesAFileIsAnUpload() async throws {
        let store = MemoryStore()
        let isAllowed = Locked(false)
        let (asked, told) = (Locked<[WebDAVOperation]>([]), Locked<[WebDAVOperation]>([]))
        var options = WebDAVOptions()
        options.shouldPerform = { operation, _ in
            asked.withLock { $0.append(operation) }
            if case .upload = operation { return isAllowed.withLock { $0 } }
            return true
        }
        options.didPerform = { operation, _ in told.withLock { $0.append(operation) } }
        let client = DAVClient(store: store, options: options)
        #expect(try await client.status("LOCK", "/dav/n", [], DAVClient.lockInfo()) == 403)
        #expect(try await client.status("GET", "/dav/n") == 404)
        #expect(told.withLock { $0.isEmpty })
        isAllowed.withLock { $0 = true }
        #expect(try await client.status("LOCK", "/dav/n", [], DAVClient.lockInfo()) == 201)
        let path = try #require(ResourcePath("n"))
        #expect(
            asked.withLock { $0 } == [.lock(path), .upload(path), .lock(path), .upload(path)])
        #expect(told.withLock { $0 } == [.upload(path), .lock(path)])
    }

    @Test func aCollectionMadeWithPropertiesIsAChangeOfThem() async throws {
        let isAllowed = Locked(false)
        let (asked, told) = (Locked<[WebDAVOperation]>([]), Locked<[WebDAVOperation]>([]))
        var options = WebDAVOptions()
        options.shouldPerform = { operation, _ in
            asked.withLock { $0.append(operation) }
            if case .changeProperties = operation { return isAllowed.withLock { $0 } }
            return true
        }
        options.didPerform = { operation, _ in told.withLock { $0.append(operation) } }
        let client = DAVClient(options: options)
        let fields = ["Content-Type: application/xml"]
        func content(_ property: String) -> String {
            """
            <mkcol xmlns="DAV:"><set><prop><resourcetype><collection/></resourcetype>\
            \(property)</prop></set></mkcol>
            """
        }
        let described = content("<p xmlns=\"u:\">1</p>")
        let path = try #require(ResourcePath("c"))
        let both: [WebDAVOperation] = [.makeCollection(path), .changeProperties(path)]
        #expect(try await client.status("MKCOL", "/dav/c", fields, described) == 403)
        #expect(try await client.status("PROPFIND", "/dav/c", ["Depth: 0"]) == 404)
        #expect(asked.withLock { $0 } == both && told.withLock { $0.isEmpty })
        isAllowed.withLock { $0 = true }
        #expect(try await client.status("MKCOL", "/dav/c", fields, described) == 201)
        #expect(asked.withLock { $0 } == both + both && told.withLock { $0 } == both)
        // Without properties the hook is not asked for a change of properties.
        isAllowed.withLock { $0 = false }
        #expect(try await client.status("MKCOL", "/dav/d", fields, content("")) == 201)
        let plain = try #require(ResourcePath("d"))
        #expect(told.withLock { $0.last } == WebDAVOperation.makeCollection(plain))
    }

    private static func chunk(_ count: Int) -> String {
        String(count, radix: 16) + "\r\n" + String(repeating: "n", count: count) + "\r\n"
    }

    @Test func contentThatBecomesTooLongIsRefusedWhileItComes() async throws {
        let share = try Share()
        var options = WebDAVOptions()
        options.contentLimit = 200_000
        let client = DAVClient(store: try LocalStore(root: share.path), options: options)
        #expect(try await client.status("PUT", "/dav/a", [], "old") == 201)
        let connection = MemoryConnection(client.router)
        let head = "PUT /dav/a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        // The content has no last chunk.
        connection.send(head, Self.chunk(150_000), Self.chunk(150_000))
        let record = try await connection.output("\r\n\r\n")
        #expect(record.text.hasPrefix("HTTP/1.1 413 "), "\(record.text)")
        connection.end()
        #expect(try await client.send("GET", "/dav/a").text == "old")
        // Another thread removes the partial content.
        try await waitUntil { Self.files(in: share.path) == ["a"] }
        // Content at the limit is accepted.
        let exact = MemoryConnection(client.router)
        exact.send(head, Self.chunk(150_000), Self.chunk(50_000), "0\r\n\r\n")
        #expect(try await exact.output("\r\n\r\n").text.hasPrefix("HTTP/1.1 204 "))
        exact.end()
    }

    private static func files(in folder: String) -> [String] {
        let all = FileManager.default.enumerator(atPath: folder)
        var files: [String] = []
        while let name = all?.nextObject() as? String {
            if all?.fileAttributes?[.type] as? FileAttributeType == .typeRegular {
                files.append(name)
            }
        }
        return files
    }
}
