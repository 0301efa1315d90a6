import Foundation
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("httpkit fetch: interrupted and resumed downloads", .fewAtOnce, .timeLimit(.minutes(5)))
struct FetchResumeTests {
    enum End: CaseIterable { case serverKilled, interrupt, terminate, killed }

    private static let size = 4_000_000
    private static let content = (0..<size).map { UInt8(ascii: "a") + UInt8($0 % 26) }

    /// A server for the same content as the slow server, at the same port.
    private struct Successor {
        let server: HTTPServer
        let ranges = Locked([String?]())

        init(port: UInt16, tag: String) async throws {
            let ranges = ranges
            let handler = SyncHandler { request in
                ranges.withLock { $0.append(request.fields[.range]) }
                var response = Response(.ok, body: .bytes(FetchResumeTests.content))
                response.entityTag = EntityTag(opaque: tag)
                return try response.conditional(for: request)
            }
            server = HTTPServer(
                ServerConfiguration(host: "127.0.0.1", port: port), handler: handler)
            try await server.start()
        }
    }

    /// The size of a partial file, by any of its temporary names.
    private func partSize(_ folder: Folder) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let sizes = names.filter { $0.hasPrefix(".") }.map { name in
            let path = folder.file(name).path
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            return (attributes?[.size] as? NSNumber)?.intValue ?? 0
        }
        return sizes.max() ?? 0
    }

    private func names(_ folder: Folder) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }

    /// Starts a slow download and ends it early; returns URL and port of the killed server.
    private func stop(_ end: End, _ folder: Folder) async throws -> (url: String, port: UInt16) {
        let slow = try await BinProcess()
        let url = "\(slow.base)/range/\(Self.size)?duration=100"
        let port = try #require(UInt16(slow.base.split(separator: ":").last ?? ""))
        let fetch = try RunningProgram(
            Program.httpkit, ["fetch", "--resume", "-o", folder.file("f").path, url])
        #expect(await fetch.wait { _ in partSize(folder) > 50_000 }, "\(fetch.complaints)")
        switch end {
        case .serverKilled: slow.signal(SIGKILL)
        case .interrupt: fetch.signal(SIGINT)
        case .terminate: fetch.signal(SIGTERM)
        case .killed: fetch.signal(SIGKILL)
        }
        let status = await fetch.end()
        switch end {
        case .serverKilled: #expect([7, 18, 52, 56].contains(status), "\(fetch.complaints)")
        case .interrupt: #expect(status == 130, "\(fetch.complaints)")
        case .terminate: #expect(status == 143, "\(fetch.complaints)")
        case .killed: #expect(status == -SIGKILL)
        }
        #expect(fetch.complaints.split(separator: "\n").count == (end == .killed ? 0 : 1))
        slow.signal(SIGKILL)
        _ = await slow.waitForEnd()
        #expect(names(folder).contains("f.resume") && !names(folder).contains("f"))
        return (url, port)
    }

    @Test("The next call fetches the rest, and the file is complete", arguments: End.allCases)
    func resumed(_ end: End) async throws {
        let folder = try Folder()
        let (url, port) = try await stop(end, folder)
        let successor = try await Successor(port: port, tag: "range\(Self.size)")
        let there = partSize(folder)
        #expect(there > 50_000 && there < Self.size)
        let again = try await Program.run(
            Program.httpkit, ["fetch", "--resume", "-o", folder.file("f").path, url])
        #expect(again.status == 0, "\(again.complaints)")
        #expect(folder.bytes("f") == Self.content)
        #expect(successor.ranges.withLock { $0 } == ["bytes=\(there)-"])
        #expect(names(folder) == ["f"])
        await successor.server.shutdown()
    }

    @Test("A changed resource, or another URL, is fetched from the beginning")
    func changed() async throws {
        let folder = try Folder()
        let (url, port) = try await stop(.interrupt, folder)
        let successor = try await Successor(port: port, tag: "other")
        let other = try await Program.run(
            Program.httpkit, ["fetch", "--resume", "-o", folder.file("f").path, "\(url)0"])
        #expect(other.status == 0 && successor.ranges.withLock { $0 } == [nil])
        #expect(folder.bytes("f") == Self.content && names(folder) == ["f"])
        let second = try Folder()
        let (slowURL, slowPort) = try await stop(.interrupt, second)
        let changed = try await Successor(port: slowPort, tag: "other")
        let again = try await Program.run(
            Program.httpkit, ["fetch", "--resume", "-o", second.file("f").path, slowURL])
        #expect(again.status == 0, "\(again.complaints)")
        #expect(second.bytes("f") == Self.content && names(second) == ["f"])
        #expect(changed.ranges.withLock { $0.count } == 1)
        await successor.server.shutdown()
        await changed.server.shutdown()
    }

    /// A server whose content depends on its entity tag.
    private final class Source: Sendable {
        let server: HTTPServer
        let tag = Locked("\"1\"")
        let conditions = Locked([String]())

        init() async throws {
            let (tag, conditions) = (tag, conditions)
            let handler = SyncHandler { request in
                conditions.withLock { $0.append(request.fields[.ifNoneMatch] ?? "-") }
                let current = tag.withLock { $0 }
                if request.fields[.range] != nil {
                    return Response(
                        .partialContent, fields: [.eTag: current, .contentRange: "bytes 0-3/11"],
                        body: .text("cont"))
                }
                guard request.fields[.ifNoneMatch] != current else {
                    return Response(.notModified, fields: [.eTag: current])
                }
                return Response(.ok, fields: [.eTag: current], body: .text("content \(current)"))
            }
            server = HTTPServer(ServerConfiguration(host: "127.0.0.1", port: 0), handler: handler)
            try await server.start()
        }

        func fetch(
            _ folder: Folder, _ target: String = "/", _ flags: String...
        ) async throws -> Program.Result {
            let port = try #require(server.addresses.first?.port)
            return try await Program.run(
                Program.httpkit,
                [
                    "fetch", "--resume", "-o", folder.file("f").path,
                    "http://127.0.0.1:\(port)\(target)",
                ] + flags)
        }
    }

    /// Whether files in the folder of the tests can have extended attributes.
    private static func hasAttributes() throws -> Bool {
        let folder = try Folder()
        defer { withExtendedLifetime(folder) {} }
        try folder.write("", to: "probe")
        let handle = try FileHandle(forReadingFrom: folder.file("probe"))
        let file = OpenFile(owning: dup(handle.fileDescriptor))
        do throws(SystemError) {
            try file.setAttribute("user.probe", [1])
            return true
        } catch {
            guard error.isUnsupported else { throw error }
            return false
        }
    }

    @Test(
        "RFC 9110, 13.1.2: a complete file is fetched again only if server or file have changed",
        .enabled("files have no extended attributes here") { try hasAttributes() })
    func whole() async throws {
        let folder = try Folder()
        let source = try await Source()
        #expect(try await source.fetch(folder).complaints.isEmpty)
        let again = try await source.fetch(folder)
        #expect(again.status == 0 && again.complaints.hasSuffix("the server still has the same\n"))
        #expect(folder.text("f") == "content \"1\"" && names(folder) == ["f"])
        source.tag.withLock { $0 = "\"2\"" }
        #expect(try await source.fetch(folder).complaints.isEmpty)
        #expect(folder.text("f") == "content \"2\"")
        // The length stays the same.
        let handle = try FileHandle(forWritingTo: folder.file("f"))
        try handle.write(contentsOf: Data("changed".utf8))
        try handle.close()
        #expect(try await source.fetch(folder).complaints.isEmpty)
        #expect(folder.text("f") == "content \"2\"")
        // Another resource.
        #expect(try await source.fetch(folder, "/other").complaints.isEmpty)
        #expect(
            source.conditions.withLock { $0 } == ["-", "\"1\"", "\"1\"", "-", "-"])
        await source.server.shutdown()
    }

    @Test("A complete file with a weak entity tag is fetched again")
    func wholeWeak() async throws {
        let folder = try Folder()
        let source = try await Source()
        source.tag.withLock { $0 = "W/\"1\"" }
        for _ in 0..<2 { #expect(try await source.fetch(folder).status == 0) }
        #expect(source.conditions.withLock { $0 } == ["-", "-"])
        await source.server.shutdown()
    }

    @Test("A partial response is not treated as a complete file")
    func wholePart() async throws {
        let folder = try Folder()
        let source = try await Source()
        #expect(try await source.fetch(folder, "/", "-H", "Range: bytes=0-3").status == 0)
        #expect(folder.text("f") == "cont")
        #expect(try await source.fetch(folder).status == 0)
        #expect(folder.text("f") == "content \"1\"")
        #expect(source.conditions.withLock { $0 } == ["-", "-"])
        await source.server.shutdown()
    }

    @Test("A response that cannot be resumed replaces the part of an earlier download")
    func noLongerResumable() async throws {
        let folder = try Folder()
        let (url, port) = try await stop(.killed, folder)
        let handler = SyncHandler { _ in
            Response(.ok, fields: [.eTag: "W/\"x\""], body: .bytes(Self.content))
        }
        let server = HTTPServer(
            ServerConfiguration(host: "127.0.0.1", port: port), handler: handler)
        try await server.start()
        let again = try await Program.run(
            Program.httpkit, ["fetch", "--resume", "-o", folder.file("f").path, url])
        #expect(again.status == 0, "\(again.complaints)")
        #expect(folder.bytes("f") == Self.content && names(folder) == ["f"])
        await server.shutdown()
    }

    @Test(
        "A resume file that names another file does not change that file", arguments: [true, false])
    func foreignNote(_ isElsewhere: Bool) async throws {
        let folder = try Folder()
        let (url, port) = try await stop(.killed, folder)
        let successor = try await Successor(port: port, tag: "range\(Self.size)")
        let other = try Folder()
        let victim = isElsewhere ? other.file("v") : folder.file(".env")
        try Data("precious, and as long as a part".utf8).write(to: victim)
        let note = folder.text("f.resume")
        let path = try #require(
            note.firstMatch(of: /"partialPath":"([^"]*)"/)?.output.1)
        let escaped = victim.path.replacingOccurrences(of: "/", with: "\\/")
        try Data(note.replacingOccurrences(of: path, with: escaped).utf8).write(
            to: folder.file("f.resume"))
        let again = try await Program.run(
            Program.httpkit, ["fetch", "--resume", "-o", folder.file("f").path, url])
        #expect(again.status == 0, "\(again.complaints)")
        let kept = try String(decoding: Data(contentsOf: victim), as: UTF8.self)
        #expect(kept == "precious, and as long as a part")
        #expect(folder.bytes("f") == Self.content && successor.ranges.withLock { $0 } == [nil])
        await successor.server.shutdown()
    }

    enum Stranger: CaseIterable { case text, json, folder, link }

    @Test(
        "A file with the name of a resume file is not changed", arguments: Stranger.allCases,
        [true, false])
    func stranger(_ stranger: Stranger, resumes: Bool) async throws {
        let folder = try Folder()
        let text = stranger == .json ? "{\"request\":\"https://a.example/\"}" : "of another program"
        let kept = stranger == .folder ? "f.resume/kept" : stranger == .link ? "kept" : "f.resume"
        try folder.write(text, to: kept)
        if stranger == .link {
            try FileManager.default.createSymbolicLink(
                atPath: folder.file("f.resume").path, withDestinationPath: "kept")
        }
        let source = try await Source()
        let port = try #require(source.server.addresses.first?.port)
        let words = ["fetch", "http://127.0.0.1:\(port)/", "-o", folder.file("f").path]
        let done = try await Program.run(Program.httpkit, words + (resumes ? ["--resume"] : []))
        #expect(done.status == 0 && done.complaints.isEmpty, "\(done.complaints)")
        #expect(folder.text("f") == "content \"1\"" && folder.text(kept) == text)
        await source.server.shutdown()
        // An interrupted download reports that it cannot be resumed, and leaves no part.
        guard resumes else { return }
        let slow = try await BinProcess()
        let fetch = try RunningProgram(
            Program.httpkit,
            [
                "fetch", "--resume", "-o", folder.file("f").path,
                "\(slow.base)/range/\(Self.size)?duration=100",
            ])
        #expect(await fetch.wait { _ in partSize(folder) > 50_000 }, "\(fetch.complaints)")
        fetch.signal(SIGINT)
        #expect(await fetch.end() == 130)
        #expect(fetch.complaints.contains("f.resume; --resume will start over: another file has"))
        #expect(folder.text(kept) == text && !names(folder).contains { $0.hasPrefix(".") })
    }

    @Test("A call without --resume keeps the resume file and the part of an earlier call")
    func unrelated() async throws {
        let folder = try Folder()
        let (url, port) = try await stop(.interrupt, folder)
        let before = names(folder)
        let successor = try await Successor(port: port, tag: "range\(Self.size)")
        let plain = try await Program.run(
            Program.httpkit, ["fetch", "-o", folder.file("f").path, url])
        #expect(plain.status == 0, "\(plain.complaints)")
        #expect(names(folder) == (before + ["f"]).sorted())
        await successor.server.shutdown()
    }

    @Test("Without --resume an interrupted download leaves no files")
    func interrupted() async throws {
        let slow = try await BinProcess()
        let folder = try Folder()
        let fetch = try RunningProgram(
            Program.httpkit,
            ["fetch", "-o", folder.file("f").path, "\(slow.base)/range/\(Self.size)?duration=100"])
        #expect(await fetch.wait { _ in partSize(folder) > 50_000 })
        fetch.signal(SIGINT)
        #expect(await fetch.end() == 130)
        #expect(names(folder).isEmpty)
    }
}
