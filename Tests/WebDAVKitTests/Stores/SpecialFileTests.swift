import HTTPServerCore
import TestSupport
import Testing
import WebDAVKit

/// Entries of a shared directory that are neither files nor directories.
@Suite("LocalStore: Pipes, sockets, devices and links that lead out")
struct SpecialFileTests {
    private let directory: ServerDirectory
    private let client: DAVClient
    private let names: [String]

    init() throws {
        directory = try ServerDirectory()
        try directory.makePipe("pipe")
        try directory.makeStaleSocket("socket")
        // Only root may create a device.
        let hasDevice = directory.makeNullDevice("device")
        names = ["pipe", "socket"] + (hasDevice ? ["device"] : [])
        try directory.link("out", to: "/etc")
        try directory.write("file", "x")
        client = DAVClient(store: try LocalStore(root: directory.path))
    }

    @Test func nobodyWaitsForThemAndNobodySeesThem() async throws {
        let list = try await client.send("PROPFIND", "/dav/", ["Depth: 1"]).text
        #expect(list.contains("/dav/file<"))
        for name in names + ["out"] {
            #expect(!list.contains(name), "\(name)")
            let path = "/dav/" + name
            for method in ["GET", "HEAD", "DELETE", "PROPFIND", "PROPPATCH"] {
                let content = method == "PROPPATCH" ? "<propertyupdate xmlns=\"DAV:\">" : ""
                let rest =
                    content.isEmpty ? "" : "<remove><prop><x/></prop></remove></propertyupdate>"
                let fields = method == "PROPFIND" ? ["Depth: 0"] : []
                let status = try await client.status(method, path, fields, content + rest)
                #expect(status == 404, "\(method) \(name)")
            }
            for method in ["COPY", "MOVE"] {
                let status = try await client.status(method, path, ["Destination: /dav/n"])
                #expect(status == 404, "\(method) \(name)")
            }
            #expect(directory.exists(name))
        }
    }

    @Test func theyAreNotReplaced() async throws {
        for name in names {
            let path = "/dav/" + name
            #expect(try await client.status("PUT", path, [], "x") == 403, "\(name)")
            let long = String(repeating: "x", count: 100_000)
            #expect(try await client.status("PUT", path, [], long) == 403, "\(name)")
            #expect(try await client.status("MKCOL", path) == 405, "\(name)")
            #expect(try await client.status("LOCK", path, [], DAVClient.lockInfo()) == 403)
            for method in ["COPY", "MOVE"] {
                for (overwrite, status) in [("T", 403), ("F", 412)] {
                    let fields = ["Destination: " + path, "Overwrite: " + overwrite]
                    let found = try await client.status(method, "/dav/file", fields)
                    #expect(found == status, "\(method) \(name) \(overwrite)")
                }
            }
            #expect(directory.exists(name))
        }
        #expect(try await client.send("GET", "/dav/file").text == "x")
    }

    @Test(arguments: ["COPY", "MOVE"])
    func aLinkThatLeadsOutIsReplacedOnlyIfWished(_ method: String) async throws {
        for (overwrite, status) in [("F", 412), ("T", 201)] {
            let fields = ["Destination: /dav/out", "Overwrite: " + overwrite]
            #expect(try await client.status(method, "/dav/file", fields) == status)
        }
        #expect(try await client.send("GET", "/dav/out").text == "x")
    }

    @Test func aCollectionGoesWithThemAndIsCopiedWithoutThem() async throws {
        #expect(try await client.status("MKCOL", "/dav/c") == 201)
        try directory.makePipe("c/pipe")
        try directory.write("c/f", "x")
        #expect(try await client.status("COPY", "/dav/c", ["Destination: /dav/d"]) == 201)
        #expect(directory.exists("d/f") && !directory.exists("d/pipe"))
        #expect(try await client.status("MOVE", "/dav/c", ["Destination: /dav/d"]) == 204)
        #expect(directory.exists("d/pipe"))
        #expect(try await client.status("DELETE", "/dav/d") == 204)
        #expect(!directory.exists("d"))
    }
}
