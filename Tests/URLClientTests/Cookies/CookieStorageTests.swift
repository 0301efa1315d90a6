import HTTPParser
import TestSupport
import Testing
import ToolkitSystem
import URLClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("Stored cookies")
struct CookieStorageTests {
    private let now = WallClock.now

    private func cookie(_ name: String, _ change: Int64? = 1_000) -> Cookie {
        Cookie(
            name: name, value: "v", domain: "h.example", path: "/p",
            expiry: change.map { HTTPDate(secondsSinceEpoch: now.secondsSinceEpoch + $0) },
            isHostOnly: name != "wide", isSecure: true, isHTTPOnly: name == "http",
            sameSite: .lax, creation: now)
    }

    @Test("Cookies are stored, found and removed")
    func storing() throws {
        let storage = CookieStorage()
        let url = try #require(URL(string: "https://h.example/p/q"))
        let other = try #require(URL(string: "https://h.example/"))
        storage.store(cookie("a"))
        storage.store(cookie("gone", -1))
        storage.store(from: [.setCookie: "b=1; path=/"], for: url)
        #expect(storage.cookies.map(\.name).sorted() == ["a", "b"])
        #expect(storage.cookies(for: url).map(\.name) == ["a", "b"])
        #expect(storage.cookies(for: other).map(\.name) == ["b"])
        storage.remove(cookie("a"))
        #expect(storage.cookies.map(\.name) == ["b"])
        storage.removeAll(since: HTTPDate(secondsSinceEpoch: now.secondsSinceEpoch + 1_000))
        #expect(storage.cookies.count == 1)
        storage.removeAll()
        #expect(storage.cookies.isEmpty)
    }

    @Test("The policy decides what servers may set, not what the application stores")
    func policy() throws {
        let storage = CookieStorage()
        let url = try #require(URL(string: "https://h.example/p"))
        #expect(storage.acceptPolicy == .onlyFromMainDocumentDomain)
        storage.acceptPolicy = .never
        storage.store(from: [.setCookie: "b=1"], for: url)
        #expect(storage.cookies.isEmpty)
        storage.store(cookie("a"))
        #expect(storage.cookies.map(\.name) == ["a"])
        let ftp = try #require(URL(string: "ftp://h.example/p"))
        #expect(storage.cookies(for: ftp).isEmpty)
    }

    @Test("A file restores cookies; the native format omits session cookies", arguments: [0, 1])
    func file(_ format: Int) throws {
        let format = [CookieFileFormat.native, .netscape][format]
        let path = TemporaryPath()
        let storage = CookieStorage(file: path.text, format: format)
        let all = ["a", "wide", "http"].map { cookie($0) } + [cookie("session", nil)]
        for cookie in all { storage.store(cookie) }
        try storage.save()
        let again = CookieStorage(file: path.text, format: format)
        let names = again.cookies.map(\.name).sorted()
        if format == .native {
            #expect(names == ["a", "http", "wide"])
            #expect(Set(again.cookies) == Set(all.dropLast()))
        } else {
            #expect(names == ["a", "http", "session", "wide"])
            #expect(again.cookies.filter { !$0.isHostOnly }.map(\.name) == ["wide"])
            #expect(again.cookies.filter(\.isHTTPOnly).map(\.name) == ["http"])
        }
        #expect(path.permissions == 0o600)
    }

    @Test("The file is written when the storage is deallocated, but not without a change")
    func leaving() {
        let path = TemporaryPath()
        do {
            let storage = CookieStorage(file: path.text)
            storage.store(cookie("a"))
        }
        #expect(CookieStorage(file: path.text).cookies.count == 1)
        path.write("broken")
        #expect(CookieStorage(file: path.text).cookies.isEmpty)
        #expect(path.content == "broken")
    }

    @Test(
        "A file with invalid content gives an empty storage",
        arguments: ["", "{", "[]", "{\"version\":2,\"cookies\":[]}", "{\"version\":1}", "\u{0}"])
    func broken(_ text: String) {
        let path = TemporaryPath()
        path.write(text)
        #expect(CookieStorage(file: path.text).cookies.isEmpty)
    }

    @Test("A file of a newer version is left as it is, and saving is an error")
    func newerVersion() {
        let path = TemporaryPath()
        let text = "{\"version\":2,\"cookies\":{\"new\":true}}"
        path.write(text)
        do {
            let storage = CookieStorage(file: path.text)
            #expect(storage.loadError?.message == "cookies: the file has the newer version 2")
            storage.store(cookie("a"))
            #expect(throws: ClientError.self) { try storage.save() }
            #expect(storage.cookies.count == 1)
        }
        #expect(path.content == text)
    }

    @Test(
        "An existing file that cannot be read is left as it is, and saving is an error",
        arguments: [0, 1])
    func unreadable(_ format: Int) throws {
        let (path, folder) = (TemporaryPath(), TemporaryPath())
        let files = FileManager.default
        try files.createDirectory(atPath: folder.text, withIntermediateDirectories: true)
        // A link to itself.
        try files.createSymbolicLink(atPath: path.text, withDestinationPath: path.text)
        for name in [path.text, folder.text] {
            let storage = CookieStorage(
                file: name, format: [CookieFileFormat.native, .netscape][format])
            #expect(storage.loadError?.kind == .cannotOpenFile)
            storage.store(cookie("a"))
            #expect(throws: ClientError.self) { try storage.save() }
        }
        #expect(try files.destinationOfSymbolicLink(atPath: path.text) == path.text)
        #expect(folder.names.isEmpty)
    }

    @Test("Saving replaces a file with invalid content")
    func replaced() throws {
        let path = TemporaryPath()
        path.write("{\"version\":0}")
        let storage = CookieStorage(file: path.text)
        storage.store(cookie("a"))
        try storage.save()
        #expect(CookieStorage(file: path.text).cookies.map(\.name) == ["a"])
    }

    @Test("Saving to a file that cannot be written is an error")
    func failure() {
        let storage = CookieStorage(file: "/dev/null/cookies")
        storage.store(cookie("a"))
        #expect(throws: ClientError.self) { try storage.save() }
    }

    @Test("Cookies are read and written in the cookies.txt format of curl")
    func netscape() {
        let text = """
            # Netscape HTTP Cookie File
            # https://curl.se/docs/http-cookies.html

            #HttpOnly_.example.org\tTRUE\t/\tTRUE\t2000000000\ta\t1
            example.org\tFALSE\t/x\tFALSE\t0\tb\t
            # comment
            example.org\tFALSE\tx\tFALSE\t0\tc\t1
            example.org\tFALSE\t/\tFALSE\t-1\td\t1
            example.org\tFALSE\t/
            \tFALSE\t/\tFALSE\t0\te\t1

            """
        let cookies = NetscapeCookies.cookies(in: Array(text.utf8), now: now)
        #expect(cookies.map(\.name) == ["a", "b"])
        #expect(cookies[0].isHTTPOnly && cookies[0].isSecure && !cookies[0].isHostOnly)
        #expect(cookies[0].domain == "example.org")
        #expect(cookies[0].expiry?.secondsSinceEpoch == 2_000_000_000)
        #expect(cookies[1].isSession && cookies[1].isHostOnly && cookies[1].value == "")
        let lines = String(decoding: NetscapeCookies.bytes(of: cookies), as: UTF8.self)
            .split(separator: "\n")
        #expect(lines[1] == "#HttpOnly_.example.org\tTRUE\t/\tTRUE\t2000000000\ta\t1")
        #expect(lines[2] == "example.org\tFALSE\t/x\tFALSE\t0\tb\t")
    }

    @Test("After concurrent saves by many threads, the file has all cookies")
    func savedAtOnce() async throws {
        let path = TemporaryPath()
        let storage = CookieStorage(file: path.text)
        let expiry = HTTPDate(secondsSinceEpoch: now.secondsSinceEpoch + 1_000)
        let (running, failures) = (Locked(10), Locked(0))
        for thread in 0..<10 {
            OwnThread.start {
                for number in 0..<4 {
                    storage.store(
                        Cookie(
                            name: "n\(thread)-\(number)", value: "", domain: "h.example",
                            expiry: expiry, creation: WallClock.now))
                    do {
                        try storage.save()
                    } catch {
                        failures.withLock { $0 += 1 }
                    }
                }
                running.withLock { $0 -= 1 }
            }
        }
        try await waitUntil { running.withLock { $0 } == 0 }
        #expect(failures.withLock { $0 } == 0)
        #expect(CookieStorage(file: path.text).cookies.count == 40)
    }

    @Test("Concurrent tasks store cookies without losing any")
    func concurrency() async {
        let storage = CookieStorage()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    storage.store(
                        Cookie(
                            name: "n\(number)", value: "", domain: "h.example",
                            creation: WallClock.now))
                }
            }
        }
        #expect(storage.cookies.count == 40)
    }
}
