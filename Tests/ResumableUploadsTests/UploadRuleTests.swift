import HTTPParser
import HTTPServerCore
import ResumableUploads
import TestSupport
import Testing
import ToolkitSystem

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

@Suite("Resumable uploads: Refusals, limits and expiry")
struct UploadRuleTests {
    @Test("A wrong offset is 409 with a problem and the right offset")
    func wrongOffset() async throws {
        let client = try UploadClient()
        let location = try await client.begin()
        _ = try await client.append(location, at: 0, "12345")
        for offset in [0, 4, 6, 999_999_999_999_999] {
            let answer = try await client.append(location, at: offset, "x")
            #expect(answer.status == 409 && answer["Upload-Offset"] == "5")
            #expect(answer["Upload-Complete"] == "?0")
            #expect(answer["Content-Type"] == "application/problem+json")
            #expect(answer.text.contains("mismatching-upload-offset"))
            #expect(answer.text.contains("\"expected-offset\":5"))
            #expect(answer.text.contains("\"provided-offset\":\(offset)"))
        }
        #expect(try await client.offset(location) == 5)
        for field in ["Upload-Offset: -1", "Upload-Offset: 1e3", "Upload-Offset: 9999999999999999"]
        {
            let answer = try await client.send(
                "PATCH", location, [field, "Content-Type: application/partial-upload"], "x")
            #expect(answer.status == 400)
        }
        let type = try await client.send(
            "PATCH", location, ["Upload-Offset: 5", "Content-Type: text/plain"], "x")
        #expect(type.status == 415 && type["Accept-Patch"] == "application/partial-upload")
    }

    @Test("A PATCH without a valid Upload-Complete is refused, and loses nothing")
    func unsaidEnd() async throws {
        let client = try UploadClient()
        let location = try await client.begin()
        for field in [nil, "true", "1", "?2", "?0, ?0"] {
            let said = field.map { ["Upload-Complete: \($0)"] } ?? []
            let answer = try await client.send(
                "PATCH", location,
                ["Upload-Offset: 0", "Content-Type: application/partial-upload"] + said, "half")
            #expect(answer.status == 400 && answer.text.contains("Upload-Complete"), "\(said)")
        }
        #expect(try await client.offset(location) == 0 && client.received.withLock { $0 }.isEmpty)
        #expect(try await client.append(location, at: 0, "whole", isLast: true).status == 201)
    }

    @Test("RFC 9110, 15.5.16: Parts with a content coding are 415")
    func codedParts() async throws {
        let client = try UploadClient()
        let location = try await client.begin()
        let coding = "Content-Encoding: gzip"
        let part = try await client.append(location, at: 0, "coded", isLast: true, coding)
        #expect(part.status == 415)
        #expect(try await client.offset(location) == 0 && client.received.withLock { $0 }.isEmpty)
        let tus = try await client.send(
            "POST", "/up/f", ["Tus-Resumable: 1.0.0", "Upload-Length: 5", coding], "coded")
        #expect(tus.status == 415)
    }

    @Test("The content is complete if compression translates the tag of a condition")
    func conditionOnAVariant() async throws {
        let client = try UploadClient(compresses: true)
        let location = try await client.begin("If-Match: \"abc-gzip\"")
        #expect(try await client.append(location, at: 0, "whole", isLast: true).status == 201)
        let received = try #require(client.received.withLock { $0.first })
        #expect(received["If-Match"]?.contains("\"abc\"") == true)
        #expect(received.content == Array("whole".utf8))
    }

    @Test("Inconsistent lengths are refused, and lose nothing")
    func lengths() async throws {
        let client = try UploadClient()
        let location = try await client.begin("Upload-Length: 10")
        // Refused before any content is read, so nothing is lost.
        let long = try await client.append(location, at: 0, "12345678901")
        #expect(long.status == 400 && long.text.contains("inconsistent-upload-length"))
        let short = try await client.append(location, at: 0, "123", isLast: true)
        #expect(short.status == 400)
        let changed = try await client.append(location, at: 0, "1", "Upload-Length: 11")
        #expect(changed.status == 400)
        let told = try await client.send("HEAD", location)
        #expect(told["Upload-Offset"] == "0" && told["Upload-Length"] == "10")
        let both = try await client.send(
            "POST", "/up/f", ["Upload-Complete: ?1", "Upload-Length: 4"], "123")
        #expect(both.status == 400 && client.received.withLock { $0 }.isEmpty)
        #expect(try await client.append(location, at: 0, "1234567890", isLast: true).status == 201)
    }

    @Test("More content than announced ends the upload")
    func tooLong() async throws {
        let client = try UploadClient()
        let location = try await client.begin("Upload-Length: 4")
        let connection = client.open(
            "PATCH", location,
            [
                "Upload-Offset: 0", "Upload-Complete: ?0", "Transfer-Encoding: chunked",
                "Content-Type: application/partial-upload",
            ])
        connection.send("3\r\nabc\r\n", "3\r\ndef\r\n", "0\r\n\r\n")
        #expect(try await client.answer(on: connection).status == 400)
        #expect(try await client.send("HEAD", location).status == 404)
        #expect(try FolderNames.of(client.disk) == [])
    }

    @Test("More bytes than the limit are 413, and more uploads 429")
    func limits() async throws {
        var options = ResumableUploadHandler.Options()
        (options.byteLimit, options.uploadsPerUser) = (5, 2)
        let client = try UploadClient(options: options)
        let whole = try await client.send("POST", "/up/f", ["Upload-Complete: ?1"], "123456")
        #expect(whole.status == 413)
        #expect(whole["Upload-Limit"]?.hasPrefix("max-size=5") == true)
        #expect(whole.text.contains("larger than the limit of 5 B\""))
        #expect(whole.text.contains("\"limit\":5"))
        let location = try await client.begin()
        #expect(try await client.append(location, at: 0, "123456").status == 413)
        _ = try await client.begin()
        let third = try await client.send("POST", "/up/f", ["Upload-Complete: ?0"], "")
        #expect(third.status == 429)
        #expect(try await client.append(location, at: 0, "12345", isLast: true).status == 201)
        // Finished uploads do not count, even after a restart.
        let next = try UploadClient(on: client.disk, options: options)
        _ = try await next.begin()
        let fourth = try await next.send("POST", "/up/f", ["Upload-Complete: ?0"], "")
        #expect(fourth.status == 429)
    }

    @Test("Uploads of other users are 404")
    func otherUser() async throws {
        let ann = try UploadClient(user: "ann")
        let location = try await ann.begin()
        for other in [try UploadClient(on: ann.disk, user: "bob"), try UploadClient(on: ann.disk)] {
            #expect(try await other.send("HEAD", location).status == 404)
            #expect(try await other.append(location, at: 0, "x").status == 404)
            #expect(try await other.send("DELETE", location).status == 404)
        }
        #expect(try await ann.append(location, at: 0, "x", isLast: true).status == 201)
    }

    @Test("A precheck can refuse an upload before any content is sent", arguments: [true, false])
    func refusedAtOnce(byOption: Bool) async throws {
        let precheck: UploadClient.Precheck = { request in
            #expect(request.method == .put && request.contentLength == 1_000_000)
            await #expect(throws: RequestBodyError.self) {
                try await request.body.collect(upTo: 1 << 20)
            }
            throw HTTPError(.forbidden, "no")
        }
        var options = ResumableUploadHandler.Options()
        if byOption { options.precheck = precheck }
        let client = try UploadClient(
            options: options, before: { _ in Response(.internalServerError) },
            precheck: byOption ? nil : precheck)
        let connection = client.open(
            "PUT", "/up/f",
            ["Upload-Complete: ?1", "Content-Length: 1000000", "Expect: 100-continue"])
        let answer = try await client.answer(on: connection)
        #expect(answer.status == 403 && answer.interim.isEmpty)
        #expect(answer["Upload-Complete"] == "?1" && !client.disk.exists("parts"))
    }

    @Test("The handler is called once, when all content has arrived")
    func actsFirst() async throws {
        let count = Locked(0)
        let client = try UploadClient(before: { _ in
            count.withLock { $0 += 1 }
            return nil
        })
        let location = try await client.begin()
        _ = try await client.append(location, at: 0, "abc")
        #expect(count.withLock { $0 } == 0)
        #expect(try await client.append(location, at: 3, "def", isLast: true).status == 201)
        #expect(count.withLock { $0 } == 1)
        let whole = try await client.send("PUT", "/up/f", ["Upload-Complete: ?1"], "abc")
        #expect(whole.status == 201 && count.withLock { $0 } == 2)
        let tus = try await client.send(
            "POST", "/up/f",
            [
                "Tus-Resumable: 1.0.0", "Upload-Length: 3",
                "Content-Type: application/offset+octet-stream",
            ], "abc")
        #expect(tus.status == 201 && count.withLock { $0 } == 3)
    }

    @Test("Without a precheck the handler can refuse when all content has arrived")
    func refusesLate() async throws {
        let client = try UploadClient(before: { _ in throw HTTPError(.forbidden) })
        let location = try await client.begin()
        let answer = try await client.append(location, at: 0, "abc", isLast: true)
        #expect(answer.status == 403 && answer["Upload-Complete"] == "?1")
    }

    @Test("A handler with a precheck can still refuse at the end")
    func refusedAtTheEnd() async throws {
        let isAllowed = Locked(true)
        let check: @Sendable (Request) throws -> Response? = { _ in
            guard isAllowed.withLock({ $0 }) else { throw HTTPError(.preconditionFailed) }
            return nil
        }
        let client = try UploadClient(before: check, precheck: check)
        let location = try await client.begin()
        isAllowed.withLock { $0 = false }
        let answer = try await client.append(location, at: 0, "x", isLast: true)
        #expect(answer.status == 412 && answer["Upload-Complete"] == "?1")
        let told = try await client.send("HEAD", location)
        #expect(told["Upload-Complete"] == "?1" && told["Upload-Offset"] == "1")
    }

    @Test(
        "After a temporary refusal the upload can be completed later",
        arguments: [401, 423, 429, 503, 504, 507])
    func later(status: Int) async throws {
        let isBusy = Locked(true)
        let client = try UploadClient(answer: { _ in
            guard isBusy.withLock({ $0 }) else { return Response(.created) }
            throw HTTPError(try #require(HTTPStatus(status)))
        })
        let location = try await client.begin()
        let busy = try await client.append(location, at: 0, "abc", isLast: true)
        #expect(busy.status == status && busy["Upload-Complete"] == "?0")
        #expect(try await client.offset(location) == 3)
        isBusy.withLock { $0 = false }
        #expect(try await client.append(location, at: 3, "", isLast: true).status == 201)
        #expect(
            client.received.withLock { $0.map(\.content) } == [
                Array("abc".utf8), Array("abc".utf8),
            ])
    }

    @Test("tus: HEAD of a complete upload calls the handler again after a temporary refusal")
    func laterByTus() async throws {
        let isBusy = Locked(true)
        let client = try UploadClient(answer: { _ in
            if isBusy.withLock({ $0 }) { throw HTTPError(.serviceUnavailable) }
            return Response(.created)
        })
        let version = "Tus-Resumable: 1.0.0"
        let begun = try await client.send("POST", "/up/f", [version, "Upload-Length: 1"], "")
        let location = try #require(begun["Location"])
        let fields = [version, "Content-Type: application/offset+octet-stream", "Upload-Offset: 0"]
        #expect(try await client.send("PATCH", location, fields, "x").status == 503)
        #expect(try await client.send("HEAD", location, [version]).status == 503)
        isBusy.withLock { $0 = false }
        let told = try await client.send("HEAD", location, [version])
        #expect(told.status == 200 && told["Upload-Offset"] == "1")
        #expect(client.received.withLock { $0 }.count == 3)
    }

    @Test("An upload with a content coding is not resumable")
    func coded() async throws {
        let client = try UploadClient()
        let fields = ["Content-Encoding: gzip", "Upload-Complete: ?0"]
        #expect(try await client.send("PUT", "/up/f", fields, "x").status == 415)
        #expect(!client.disk.exists("parts"))
    }

    @Test("An expired upload is 404 at once, and removed from disk at the next start")
    func expiry() async throws {
        var options = ResumableUploadHandler.Options()
        options.lifetime = .seconds(1)
        let client = try UploadClient(options: options)
        let location = try await client.begin()
        let answered = try await client.begin()
        _ = try await client.append(answered, at: 0, "x", isLast: true)
        try await waitUntil { try await client.send("HEAD", location).status == 404 }
        try await waitUntil { try await client.send("HEAD", answered).status == 404 }
        try client.disk.write("parts/other", "not ours")
        _ = try UploadClient(on: client.disk)
        #expect(try FolderNames.of(client.disk) == ["other"])
    }

    #if os(Linux)
        @Test("A full disk is 507, and the upload can be continued", arguments: [10, 300_000])
        func diskFull(count: Int) async throws {
            let client = try UploadClient(part: { _ in
                OpenFile(owning: unsafe open("/dev/full", O_WRONLY | O_CLOEXEC))
            })
            let location = try await client.begin()
            let content = String(repeating: "x", count: count)
            let answer = try await client.append(location, at: 0, content, isLast: true)
            #expect(answer.status == 507 && answer["Upload-Complete"] == "?0")
            #expect(try await client.offset(location) == 0)
            let next = try UploadClient(on: client.disk)
            #expect(try await next.append(location, at: 0, content, isLast: true).status == 201)
        }
    #endif
}
