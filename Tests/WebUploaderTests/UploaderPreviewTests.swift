import HTTPCodecs
import HTTPParser
import HTTPServerCore
import TestSupport
import Testing
import WebDAVKit
import WebUploader

@Suite("The upload page: Previews, events and languages")
struct UploaderPreviewTests {
    @Test(arguments: [
        ("a.png", "image/png"), ("a.mp4", "video/mp4"), ("a.mp3", "audio/mpeg"),
        ("a.txt", "text/plain; charset=utf-8"), ("a.html", "text/plain; charset=utf-8"),
        ("a.js", "text/plain; charset=utf-8"), ("a.json", "text/plain; charset=utf-8"),
    ])
    func filesAreShownInASandbox(_ name: String, _ type: String) async throws {
        let client = UploaderClient()
        try await client.put(name, "<script>alert(1)</script>")
        let answer = try await client.get("preview?path=/\(name)")
        #expect(answer.status == 200 && answer["Content-Type"] == type)
        let policy = try #require(answer["Content-Security-Policy"])
        #expect(policy.hasPrefix("default-src 'none';") && policy.hasSuffix("; sandbox"))
        #expect(!policy.contains("script"))
        #expect(answer["X-Content-Type-Options"] == "nosniff")
        #expect(answer["Cross-Origin-Resource-Policy"] == "same-origin")
        #expect(answer["Content-Disposition"] == nil)
        let part = try await client.get("preview?path=/\(name)", "Range: bytes=1-6")
        #expect(part.status == 206 && part.text == "script")
        let item = try #require(try await client.get("list").items.first)
        #expect(item.preview != nil)
    }

    @Test func documentsHaveAPolicyOfTheirOwn() async throws {
        let client = UploaderClient()
        try await client.put("a.pdf")
        let answer = try await client.get("preview?path=/a.pdf")
        #expect(answer["Content-Type"] == "application/pdf")
        let policy = try #require(answer["Content-Security-Policy"])
        #expect(policy.hasPrefix("default-src 'none';") && !policy.contains("script"))
    }

    @Test func whatMayActIsNotShown() async throws {
        let client = UploaderClient()
        for name in ["a.svg", "a.xhtml", "a.swf", "a.zip", "a", "a.unknown"] {
            try await client.put(name)
            let answer = try await client.get("preview?path=/\(name)")
            #expect(answer.status == 409 && answer.code == "preview", "\(name)")
            let item = try await client.get("list").items.first { $0.name == name }
            #expect(item?.preview == nil)
        }
        try await client.makeFolder("folder.png")
        #expect(try await client.get("preview?path=/folder.png/").code == "preview")
        #expect(try await client.get("preview?path=/none.png").status == 404)
        #expect(try await client.get("preview").code == "field")
        #expect(try await client.get("preview?path=/../a.png").status == 400)
        var options = UploaderOptions()
        options.role = { _ in .uploadOnly }
        #expect(try await UploaderClient(options).get("preview?path=/a.png").code == "role")
        options.role = { _ in .all }
        options.shouldPerform = { _, _ in false }
        let refusing = UploaderClient(options)
        try await refusing.put("a.png")
        #expect(try await refusing.get("preview?path=/a.png").code == "refused")
    }

    @Test(arguments: ["preview", "download"])
    func shownFilesAreToldAsDownloads(_ action: String) async throws {
        var options = UploaderOptions()
        let events = Told()
        options.onEvent = { event in
            events.add("\(event.operation) \(event.failure?.code ?? 0)")
        }
        let client = UploaderClient(options)
        try await client.put("a.txt", "0123456789")
        let file = "\(action)?path=/a.txt"
        let whole = try await client.get(file)
        #expect(whole.status == 200)
        try await waitUntil { events.all.count == 1 }
        #expect(try await client.get(file, "Range: bytes=2-4").status == 206)
        try await waitUntil { events.all.count == 2 }
        // These responses have no content of the file.
        let tag = try #require(whole["ETag"])
        #expect(try await client.get(file, "If-None-Match: \(tag)").status == 304)
        #expect(try await client.send("HEAD", "/up/" + file).status == 200)
        #expect(try await client.get(file, "Range: bytes=20-").status == 416)
        try await waitUntil { events.all.count == 3 }
        #expect(try await client.get("\(action)?path=/none.txt").status == 404)
        try await waitUntil { events.all.count == 4 }
        #expect(
            events.all == [
                "download(/a.txt) 0", "download(/a.txt) 0", "download(/a.txt) 416",
                "download(/none.txt) 404",
            ])
    }

    // MARK: Events

    private func listen(
        _ client: UploaderClient, _ path: String
    ) async throws -> MemoryConnection {
        let connection = MemoryConnection(client.handler)
        connection.send(
            "GET /up/events?path=\(path) HTTP/1.1\r\nHost: example.org\r\n\r\n")
        _ = try await connection.output("retry: ")
        return connection
    }

    private func count(_ connection: MemoryConnection) -> Int {
        connection.record.text.ranges(of: "event: changed").count
    }

    @Test func changesOfOthersAreTold() async throws {
        let client = UploaderClient()
        try await client.makeFolder("in")
        try await client.makeFolder("other")
        let inner = try await listen(client, "/in/")
        let root = try await listen(client, "/")
        #expect(inner.record.text.contains("Content-Type: text/event-stream"))
        // Changes through the page and through WebDAV.
        try await client.upload("path=/in/&name=a.txt")
        try await waitUntil { count(inner) == 1 }
        try await client.put("in/b.txt")
        try await waitUntil { count(inner) == 2 }
        try await client.put("other/c.txt")
        try await client.put("d.txt")
        try await waitUntil { count(root) == 1 }
        #expect(count(inner) == 2)
        // The removal of a folder is a change of the folder and of its parent.
        _ = try await client.post("delete", "path=/in/")
        try await waitUntil { count(inner) == 3 && count(root) == 2 }
        inner.end()
        root.end()
        _ = try await inner.closed()
        _ = try await root.closed()
    }

    @Test func listenersAreBounded() async throws {
        var options = UploaderOptions()
        options.listenerLimit = 2
        let client = UploaderClient(options)
        let first = try await listen(client, "/")
        let second = try await listen(client, "/")
        let third = try await client.get("events?path=/")
        #expect(third.status == 503 && third["Retry-After"] == "60" && third.isProblem)
        // A listener that ends or disconnects frees its slot.
        first.end()
        second.hangUp()
        _ = try await first.closed()
        try await waitUntil { try await client.send("HEAD", "/up/events").status == 200 }
        let fourth = try await listen(client, "/")
        fourth.end()
        _ = try await fourth.closed()
    }

    @Test func whoMayNotListDoesNotListen() async throws {
        let client = UploaderClient()
        try await client.put("file")
        #expect(try await client.get("events?path=/file").status == 409)
        #expect(try await client.get("events?path=/none/").status == 404)
        #expect(try await client.get("events?path=/.git/").status == 404)
        #expect(try await client.get("events?path=/../").status == 400)
        #expect(try await client.post("events", "").status == 405)
        for role in [UploaderRole.uploadOnly, .downloadOnly] {
            var options = UploaderOptions()
            options.role = { _ in role }
            #expect(try await UploaderClient(options).get("events").code == "role")
        }
        var options = UploaderOptions()
        options.shouldPerform = { _, _ in false }
        #expect(try await UploaderClient(options).get("events").code == "refused")
    }

    // MARK: Languages

    @Test func eachLanguageHasAllTexts() throws {
        let english = try #require(PageTexts.tables["en"])
        #expect(PageTexts.tables.keys.sorted() == ["de", "en", "es", "fr", "ja", "zh"])
        for (language, table) in PageTexts.tables {
            #expect(Set(table.keys) == Set(english.keys), "\(language)")
            for (key, text) in table {
                let count = text.ranges(of: "%").count
                #expect(count == english[key]?.ranges(of: "%").count, "\(language) \(key)")
                #expect(!text.isEmpty)
            }
        }
    }

    @Test func thePageSpeaksThem() async throws {
        let client = UploaderClient()
        for (field, language, mark) in [
            ("es-MX, en;q=0.5", "es", "Elegir archivos"), ("fr-CH", "fr", "Choisir des fichiers"),
            ("ja", "ja", "\u{30D5}\u{30A1}\u{30A4}\u{30EB}\u{3092}\u{9078}\u{629E}"),
            ("zh-CN, zh;q=0.9", "zh", "\u{9009}\u{62E9}\u{6587}\u{4EF6}"),
        ] {
            let page = try await client.get("", "Accept-Language: \(field)")
            #expect(page.text.contains("lang=\"\(language)\"") && page.text.contains(mark))
            #expect(page["Vary"]?.contains("Accept-Language") == true)
        }
    }
}
