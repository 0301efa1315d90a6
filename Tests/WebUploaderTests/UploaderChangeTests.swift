import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem
import WebDAVKit
import WebUploader

@Suite("The upload page: Uploads and changes")
struct UploaderChangeTests {
    @Test func contentOfOneFile() async throws {
        let client = UploaderClient()
        try await client.makeFolder("in")
        let answer = try await client.upload("path=/in/&name=a%20b.txt", "hello")
        #expect(answer.status == 201)
        let item = try #require(try answer.items.first)
        #expect(item.path == "/in/a b.txt" && item.link == "/in/a%20b.txt" && item.size == 5)
        #expect(try await client.text("in/a%20b.txt") == "hello")
    }

    @Test func aFormWithSeveralFiles() async throws {
        let client = UploaderClient()
        try await client.makeFolder("in")
        let answer = try await client.form([
            ("path", nil, "/in/"), ("files[]", "a.txt", "one"), ("files[]", "../../b.txt", "two"),
            ("files[]", "", ""),
        ])
        #expect(answer.status == 201)
        #expect(try answer.names == ["a.txt", "b.txt"])
        #expect(try await client.text("in/a.txt") == "one")
        #expect(try await client.text("in/b.txt") == "two")
    }

    @Test func formsThatAreRefused() async throws {
        let client = UploaderClient()
        let late = try await client.form([("files[]", "a.txt", "one"), ("path", nil, "/in/")])
        #expect(late.status == 400 && late.code == "field")
        let empty = try await client.form([("path", nil, "/")])
        #expect(empty.status == 400 && empty.code == "field")
        let other = try await client.send("POST", "/up/upload", ["Content-Type: text/plain"], [1])
        #expect(other.status == 415 && other.isProblem)
        let nowhere = try await client.form([("path", nil, "/none/"), ("files[]", "a", "x")])
        #expect(nowhere.status == 409)
    }

    @Test("A form with more files than allowed is 413", arguments: [0, 1, Int.max])
    func filesOfAForm(_ limit: Int) async throws {
        for count in [1, 2, 17] {
            var options = UploaderOptions()
            options.fileCountLimit = limit
            let client = UploaderClient(options)
            var parts: [(name: String, file: String?, content: String)] = []
            for number in 0..<count { parts.append(("files[]", "\(number).txt", "x")) }
            let answer = try await client.form(parts)
            #expect(answer.status == (count <= limit ? 201 : 413), "\(count) of \(limit)")
            // The files before the first excess one are stored already.
            #expect(try await client.get("list").total == min(count, limit))
        }
    }

    @Test func theFoldersOfADroppedFolderAreMade() async throws {
        let client = UploaderClient()
        #expect(try await client.upload("name=a/b/c.txt").status == 201)
        #expect(try await client.upload("name=a/b/d.txt").status == 201)
        #expect(try await client.get("list?path=/a/b/").names == ["c.txt", "d.txt"])
        // A file in the place of a folder is not replaced.
        #expect(try await client.upload("name=a/b/c.txt/e.txt").status == 409)
        #expect(try await client.text("a/b/c.txt") == "content")
    }

    @Test func takenNames() async throws {
        let client = UploaderClient()
        try await client.put("a.tar.gz", "old")
        let kept = try await client.upload("name=a.tar.gz", "new")
        #expect(try kept.names == ["a.tar (1).gz"])
        #expect(try await client.upload("name=a.tar.gz", "newer").names == ["a.tar (2).gz"])
        #expect(try await client.text("a.tar.gz") == "old")
        let refused = try await client.upload("name=a.tar.gz&conflict=refuse")
        #expect(refused.status == 409 && refused.code == "exists" && refused.isProblem)
        let replaced = try await client.upload("name=a.tar.gz&conflict=replace", "newest")
        #expect(try replaced.names == ["a.tar.gz"])
        #expect(try await client.text("a.tar.gz") == "newest")
        let form = try await client.form([
            ("conflict", nil, "replace"), ("files[]", "a.tar.gz", "form"),
        ])
        #expect(try form.names == ["a.tar.gz"])
        #expect(try await client.upload("name=a&conflict=strange").status == 400)
    }

    @Test func uploadsOfOneNameAtOnceAreAllKept() async throws {
        let client = UploaderClient()
        try await withThrowingTaskGroup { group in
            for number in 0..<20 {
                group.addTask {
                    let answer = try await client.upload("name=a.txt", "\(number)")
                    #expect(answer.status == 201)
                }
            }
            try await group.waitForAll()
        }
        let items = try await client.get("list").items
        let expected = ["a.txt"] + (1..<20).map { "a (\($0)).txt" }
        #expect(Set(items.map(\.name)) == Set(expected))
        var contents: Set<String> = []
        for item in items {
            contents.insert(try await client.get("download?path=\(item.link)").text)
        }
        #expect(contents == Set((0..<20).map(String.init)))
    }

    @Test func oneOfManyThatRefuseIsTaken() async throws {
        let client = UploaderClient()
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<10 {
                group.addTask {
                    try await client.upload("name=a&conflict=refuse", "\(number)").status
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.sorted() == [201] + Array(repeating: 409, count: 9))
    }

    @Test func foldersAreNotReplaced() async throws {
        let client = UploaderClient()
        try await client.makeFolder("a")
        try await client.put("a/inner")
        let answer = try await client.upload("name=a&conflict=replace")
        #expect(answer.status == 409 && answer.code == "exists")
        try await client.put("b")
        let moved = try await client.post("move", "oldPath=/b&newPath=/a&conflict=replace")
        #expect(moved.status == 409 && moved.code == "exists")
        #expect(try await client.post("create", "path=/a&conflict=replace").status == 409)
        #expect(try await client.text("a/inner") == "content")
    }

    @Test func clientsMayBeKeptFromChoosing() async throws {
        var options = UploaderOptions()
        options.letsClientsChoose = false
        let client = UploaderClient(options)
        try await client.put("a")
        #expect(try await client.upload("name=a&conflict=replace").status == 403)
        #expect(try await client.upload("name=a").names == ["a (1)"])
        for status in [201, 409] {
            #expect(try await client.post("create", "path=/f&conflict=refuse").status == status)
        }
        for conflict in ["replace", "ask"] {
            let answer = try await client.post("create", "path=/g&conflict=\(conflict)")
            #expect(answer.status == 403)
        }
        #expect(try await client.upload("name=a&conflict=refuse").status == 403)
        options.conflict = .replace
        let replacing = UploaderClient(options)
        try await replacing.put("a", "old")
        #expect(try await replacing.upload("name=a", "new").names == ["a"])
        #expect(try await replacing.text("a") == "new")
    }

    @Test func longNamesWithNumbersAreCutAtACharacter() async throws {
        let client = UploaderClient()
        let name = String(repeating: "%C3%A9", count: 125) + ".txt"
        try await client.upload("name=\(name)")
        let second = try await client.upload("name=\(name)")
        let found = try #require(try second.names.first)
        #expect(found.utf8.count <= 255 && found.hasSuffix("é (1).txt"))
        #expect(try await client.upload("name=.hidden").status == 403)
    }

    @Test func tooLongContentIsRefused() async throws {
        var options = UploaderOptions()
        options.contentLimit = 4
        let client = UploaderClient(options)
        #expect(try await client.upload("name=a", "12345").status == 413)
        let form = try await client.form([("files[]", "a", "12345")])
        #expect(form.status == 413 && form.isProblem)
        let chunked = try await client.send(
            "POST", "/up/upload?name=a", ["Transfer-Encoding: chunked"],
            Array("5\r\n12345\r\n0\r\n\r\n".utf8))
        #expect(chunked.status == 413)
        #expect(try await client.get("list").names == [])
        #expect(try await client.upload("name=a", "1234").status == 201)
    }

    @Test("The refusal of a file that is too long names the file and the limit with its unit")
    func nameAndLimitOfTooLongContent() async throws {
        var options = UploaderOptions()
        options.contentLimit = 1_536
        let client = UploaderClient(options)
        let long = String(repeating: "x", count: 1_537)
        for answer in [
            try await client.upload("name=a.txt", long),
            try await client.send(
                "POST", "/up/upload?name=a.txt", ["Transfer-Encoding: chunked"],
                Array("601\r\n\(long)\r\n0\r\n\r\n".utf8)),
            try await client.form([("files[]", "fits", "x"), ("files[]", "a.txt", long)]),
        ] {
            #expect(answer.status == 413 && answer.limit == 1_536)
            #expect(answer.detail == "a.txt is larger than the limit of 1.5 KiB")
        }
        #expect(try await client.get("list").names == ["fits"])
    }

    @Test(
        "The page of a refused form names the limit in the language of the browser",
        arguments: [
            ("en", "a.txt: larger than the limit of 1.0 KiB"),
            ("de", "a.txt: größer als die Grenze von 1.0 KiB"),
        ])
    func pageOfTooLongContent(_ language: String, _ text: String) async throws {
        var options = UploaderOptions()
        options.contentLimit = 1_024
        let client = UploaderClient(options)
        let answer = try await client.form(
            [("files[]", "a.txt", String(repeating: "x", count: 1_025))], "Accept: text/html",
            "Accept-Language: \(language)")
        #expect(answer.status == 413 && answer.text.contains("<p>\(text)</p>"))
    }

    @Test("The page shows the limit if there is one")
    func limitOnThePage() async throws {
        var options = UploaderOptions()
        #expect(try await !UploaderClient(options).get("").text.contains("for each file"))
        options.contentLimit = 10 << 20
        let page = try await UploaderClient(options).get("").text
        #expect(page.contains("<p class=\"hint\">At most 10 MiB for each file</p>"))
        #expect(page.contains(" data-limit=\"10485760\""))
    }

    @Test func partsOfFilesAreNotTaken() async throws {
        let client = UploaderClient()
        let answer = try await client.upload("name=a", "x", "Content-Range: bytes 0-0/9")
        #expect(answer.status == 400)
    }

    @Test func foldersAreMade() async throws {
        let client = UploaderClient()
        let made = try await client.post("create", "path=/new")
        #expect(made.status == 201)
        #expect(try made.items.first?.path == "/new/")
        #expect(try await client.post("create", "path=/new").names == ["new (1)"])
        #expect(try await client.post("create", "path=/new&conflict=refuse").status == 409)
        #expect(try await client.post("create", "path=/none/inner").status == 409)
        #expect(try await client.post("create", "path=/new/&name=inner").status == 201)
        #expect(try await client.post("create", "path=/new/&name=a/b").status == 400)
        #expect(try await client.post("create", "").status == 400)
    }

    @Test func thingsAreMovedAndCopied() async throws {
        let client = UploaderClient()
        try await client.makeFolder("a")
        try await client.put("a/one", "1")
        try await client.put("two", "2")
        #expect(try await client.post("copy", "oldPath=/a&newPath=/b").status == 200)
        #expect(try await client.text("a/one") == "1")
        #expect(try await client.text("b/one") == "1")
        let moved = try await client.post("move", "oldPath=/two&newPath=/b/one")
        #expect(try moved.items.map(\.path) == ["/b/one (1)"])
        #expect(try await client.text("two") == nil)
        let replaced = try await client.post(
            "move", "oldPath=/b/one%20(1)&newPath=/b/one&conflict=replace")
        #expect(replaced.status == 200)
        #expect(try await client.text("b/one") == "2")
        let renamed = try await client.post("move", "path=/b/one&newName=three")
        #expect(try renamed.items.map(\.path) == ["/b/three"])
        let copied = try await client.post("copy", "oldPath=/b/three&newPath=/b/three")
        #expect(try copied.names == ["three (1)"])
        let same = try await client.post("move", "oldPath=/b/three&newPath=/b/three")
        #expect(try same.names == ["three"])
    }

    @Test func movesThatAreRefused() async throws {
        let client = UploaderClient()
        try await client.makeFolder("a")
        try await client.put("a/one", "1")
        for action in ["move", "copy"] {
            for (form, status) in [
                ("oldPath=/a&newPath=/a/b", 403), ("oldPath=/none&newPath=/b", 404),
                ("oldPath=/a/one&newPath=/none/b", 409), ("oldPath=/&newPath=/b", 403),
                ("oldPath=/a&newPath=/", 403), ("oldPath=/a", 400), ("newPath=/a", 400),
                ("oldPath=/a/one&newPath=/b%0A", 400), ("oldPath=/a/one&newPath=/%FF", 400),
            ] {
                let answer = try await client.post(action, form)
                #expect(answer.status == status && answer.isProblem, "\(action) \(form)")
            }
        }
        #expect(try await client.text("a/one") == "1")
    }

    @Test func thingsAreDeleted() async throws {
        let client = UploaderClient()
        try await client.makeFolder("a")
        for name in ["a/one", "b", "c"] { try await client.put(name) }
        let answer = try await client.post("delete", "path=/a/&path=/b")
        #expect(answer.status == 200)
        #expect(try answer.items.map(\.path) == ["/a/", "/b"])
        #expect(try await client.get("list").names == ["c"])
        #expect(try await client.post("delete", "path=/b").status == 404)
        #expect(try await client.post("delete", "").status == 400)
    }

    @Test(arguments: ["/", "", "//", "%2F"])
    func theRootIsNotDeleted(_ path: String) async throws {
        let client = UploaderClient()
        try await client.put("a")
        let answer = try await client.post("delete", "path=/a&path=\(path)")
        #expect(answer.status == 403 && answer.code == "path")
        #expect(try await client.text("a") == "content")
    }

    @Test func locksOfWebDAVAreHeeded() async throws {
        let client = UploaderClient()
        try await client.makeFolder("a")
        try await client.put("a/one", "1")
        try await client.put("b", "2")
        try await client.lock("a/one")
        let refused = [
            try await client.upload("path=/a/&name=one&conflict=replace"),
            try await client.post("move", "oldPath=/a/one&newPath=/c"),
            try await client.post("move", "oldPath=/a&newPath=/c"),
            try await client.post("move", "oldPath=/b&newPath=/a/one&conflict=replace"),
            try await client.post("delete", "path=/a/one"),
            try await client.post("delete", "path=/a"),
        ]
        for answer in refused { #expect(answer.status == 423 && answer.code == "locked") }
        // Writing next to a locked file and reading it are allowed.
        #expect(try await client.upload("path=/a/&name=one").names == ["one (1)"])
        #expect(try await client.post("copy", "oldPath=/a/one&newPath=/c").status == 200)
        try await client.makeFolder("d")
        try await client.lock("d")
        #expect(try await client.upload("path=/d/&name=x").status == 423)
        #expect(try await client.form([("path", nil, "/d/"), ("f", "x", "y")]).status == 423)
        #expect(try await client.post("create", "path=/d/x").status == 423)
        #expect(try await client.text("a/one") == "1")
    }

    @Test func hooksMayRefuseEachOperation() async throws {
        var options = UploaderOptions()
        let asked = Locked<[UploaderOperation]>([])
        options.shouldPerform = { operation, _ in
            asked.withLock { $0.append(operation) }
            return false
        }
        let client = UploaderClient(options)
        try await client.put("a")
        let answers = [
            try await client.get("list"), try await client.get("download?path=/a"),
            try await client.upload("name=b"), try await client.post("create", "path=/c"),
            try await client.post("move", "oldPath=/a&newPath=/d"),
            try await client.post("copy", "oldPath=/a&newPath=/d"),
            try await client.post("delete", "path=/a"),
        ]
        for answer in answers { #expect(answer.status == 403 && answer.code == "refused") }
        let path = { (text: String) in ResourcePath(text) ?? .root }
        #expect(
            asked.withLock { $0 } == [
                .list(.root), .download(path("a")), .upload(path("b")), .createFolder(path("c")),
                .move(path("a"), to: path("d")), .copy(path("a"), to: path("d")),
                .delete(path("a")),
            ])
        #expect(try await client.text("a") == "content")
        #expect(try await client.text("b") == nil)
    }

    @Test func eventsTellWhatWasDoneAndByWhom() async throws {
        var options = UploaderOptions()
        let events = Locked<[String]>([])
        options.onEvent = { event in
            let user = event.request.identity?.name ?? "nobody"
            let failure = event.failure.map { " \($0.code)" } ?? ""
            events.withLock { $0.append("\(user) \(event.operation)\(failure)") }
        }
        let progress = Locked<[Int64]>([])
        options.uploadProgress = { told in progress.withLock { $0.append(told.bytes) } }
        let client = UploaderClient(user: "ann", options)
        try await client.put("a")
        try await client.upload("name=a")
        _ = try await client.get("download?path=/a")
        _ = try await client.post("delete", "path=/none")
        try await waitUntil { events.withLock { $0.count } == 3 }
        let told = events.withLock { $0.sorted() }
        #expect(told.allSatisfy { $0.hasPrefix("ann ") })
        #expect(told.contains("ann delete(/none) 404"))
        #expect(told.contains("ann download(/a)"))
        #expect(told.contains("ann upload(/a (1))"))
        #expect(progress.withLock { $0.last } == 7)
    }

    @Test func roles() async throws {
        for role in UploaderRole.allCases {
            var options = UploaderOptions()
            options.role = { _ in role }
            let client = UploaderClient(options)
            try await client.put("a")
            let mayList = role == .all || role == .readOnly
            #expect(try await client.get("list").status == (mayList ? 200 : 403))
            let mayRead = role != .uploadOnly
            #expect(try await client.get("download?path=/a").status == (mayRead ? 200 : 403))
            let mayAdd = role == .all || role == .uploadOnly
            #expect(try await client.upload("name=b").status == (mayAdd ? 201 : 403))
            #expect(try await client.post("create", "path=/c").status == (mayAdd ? 201 : 403))
            let mayChange = role == .all
            let replaced = try await client.upload("name=a&conflict=replace")
            #expect(replaced.status == (mayChange ? 201 : 403))
            for action in ["move", "copy"] {
                let answer = try await client.post(action, "oldPath=/a&newPath=/\(action)")
                #expect(answer.status == (mayChange ? (action == "move" ? 200 : 404) : 403))
            }
            #expect(try await client.post("delete", "path=/move").status == (mayChange ? 200 : 403))
            let page = try await client.get("")
            #expect(page.status == 200)
            #expect(page.text.contains("id=\"entries\"") == mayList)
            #expect(page.text.contains("id=\"upload\"") == mayAdd)
            #expect(page.text.contains("formaction=\"delete\"") == mayChange)
        }
    }
}
