import TestSupport
import Testing
import WebDAVKit
import WebUploader

@Suite("The upload page: Lists and downloads")
struct UploaderListTests {
    @Test func aFolderIsListed() async throws {
        let client = UploaderClient()
        try await client.put("b10.txt", "12345")
        try await client.put("B9.txt", "1")
        try await client.makeFolder("z")
        let answer = try await client.get("list?path=/")
        #expect(answer.status == 200 && answer["Content-Type"] == "application/json")
        #expect(try answer.names == ["z", "B9.txt", "b10.txt"])
        let items = try answer.items
        #expect(items.map(\.path) == ["/z/", "/B9.txt", "/b10.txt"])
        #expect(items.map(\.type) == ["folder", "file", "file"])
        #expect(items.map(\.size) == [nil, 1, 5])
        #expect(items[1].mediaType == "text/plain; charset=utf-8")
        #expect(answer.text.contains("\"modified\":\"20"))
    }

    @Test func withoutAPathTheRootIsListed() async throws {
        let client = UploaderClient()
        try await client.put("a")
        #expect(try await client.get("list").names == ["a"])
    }

    @Test func aListHasPages() async throws {
        let client = UploaderClient()
        for number in 1...5 { try await client.put("\(number)") }
        let first = try await client.get("list?limit=2")
        #expect(try first.names == ["1", "2"] && first.next == 2 && first.total == 5)
        let last = try await client.get("list?limit=2&offset=4")
        #expect(try last.names == ["5"] && last.next == nil)
        #expect(try await client.get("list?offset=99").names == [])
        for wrong in [
            "limit=0", "limit=10001", "offset=-1", "offset=x", "offset=99999999999999999999",
        ] {
            #expect(try await client.get("list?\(wrong)").status == 400, "\(wrong)")
        }
    }

    @Test func aListThatIsTheSameIsNotSentAgain() async throws {
        let client = UploaderClient()
        try await client.put("a")
        let tag = try #require(try await client.get("list")["ETag"])
        #expect(try await client.get("list", "If-None-Match: \(tag)").status == 304)
        try await client.put("b")
        #expect(try await client.get("list", "If-None-Match: \(tag)").status == 200)
    }

    @Test func whatCannotBeListed() async throws {
        let client = UploaderClient()
        try await client.put("file")
        for (path, status) in [("/none/", 404), ("/file", 409)] {
            let answer = try await client.get("list?path=\(path)")
            #expect(answer.status == status && answer.isProblem, "\(path)")
        }
    }

    @Test func aFileIsDownloaded() async throws {
        let client = UploaderClient()
        try await client.put("a%20b.html", "0123456789")
        let answer = try await client.get("download?path=/a%20b.html")
        #expect(answer.status == 200 && answer.text == "0123456789")
        #expect(answer["Content-Disposition"] == "attachment; filename=\"a b.html\"")
        #expect(answer["X-Content-Type-Options"] == "nosniff")
        #expect(answer["Content-Security-Policy"] == "default-src 'none'; sandbox")
        #expect(answer["ETag"] != nil && answer["Last-Modified"] != nil)
        let part = try await client.get("download?path=/a%20b.html", "Range: bytes=2-4")
        #expect(part.status == 206 && part.text == "234")
        let beyond = try await client.get("download?path=/a%20b.html", "Range: bytes=20-")
        #expect(beyond.status == 416)
        let head = try await client.send("HEAD", "/up/download?path=/a%20b.html")
        #expect(head.status == 200 && head["Content-Length"] == "10" && head.content.isEmpty)
    }

    @Test func whatCannotBeDownloaded() async throws {
        let client = UploaderClient()
        try await client.makeFolder("folder")
        for (query, status) in [("path=/none", 404), ("path=/folder/none", 404), ("", 400)] {
            let answer = try await client.get("download?\(query)")
            #expect(answer.status == status && answer.isProblem, "\(query)")
        }
    }

    @Test func hiddenNamesAreNotThereAnywhereInAPath() async throws {
        var options = UploaderOptions()
        options.conflict = .refuse
        let client = UploaderClient(options)
        try await client.makeFolder("open")
        _ = try await client.store.makeCollection(at: try #require(.init("open/.secret")))
        _ = try await client.store.makeCollection(at: try #require(.init("open/.secret/inner")))
        #expect(try await client.get("list?path=/open/").names == [])
        for path in ["/open/.secret/", "/open/.secret/inner/"] {
            #expect(try await client.get("list?path=\(path)").status == 404, "\(path)")
            #expect(try await client.get("download?path=\(path)").status == 404, "\(path)")
            #expect(try await client.post("delete", "path=\(path)").status == 404, "\(path)")
            let moved = try await client.post("move", "oldPath=\(path)&newPath=/free")
            #expect(moved.status == 404, "\(path)")
        }
        for answer in [
            try await client.upload("path=/open/&name=.new"),
            try await client.upload("path=/open/&name=.secret/new"),
            try await client.post("create", "path=/open/.new"),
            try await client.post("create", "path=/open/.secret/new"),
            try await client.post("move", "oldPath=/open&newPath=/.open"),
            try await client.post("copy", "oldPath=/open&newPath=/.open"),
        ] {
            #expect(answer.status == 403 && answer.code == "hidden")
        }
        #expect(try await client.upload("path=/open/.secret/&name=new").status == 404)
    }

    @Test func otherExtensionsAreNeitherShownNorTaken() async throws {
        var options = UploaderOptions()
        options.allowedExtensions = ["TXT"]
        let client = UploaderClient(options)
        for name in ["a.txt", "b.TxT", "c.exe", "d"] { try await client.put(name) }
        #expect(try await client.get("list").names == ["a.txt", "b.TxT"])
        #expect(try await client.get("download?path=/c.exe").status == 404)
        #expect(try await client.post("delete", "path=/c.exe").status == 404)
        #expect(try await client.post("move", "oldPath=/c.exe&newPath=/c.txt").status == 404)
        for answer in [
            try await client.upload("name=new.exe"),
            try await client.form([("files[]", "new.exe", "x")]),
            try await client.post("move", "oldPath=/a.txt&newPath=/a.exe"),
        ] {
            #expect(answer.status == 403 && answer.code == "extension")
        }
        #expect(try await client.upload("name=new.Txt").status == 201)
        #expect(try await client.post("create", "path=/folder.exe").status == 201)
    }
}
