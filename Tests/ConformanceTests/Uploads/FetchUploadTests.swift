import Foundation
import HTTPParser
import TestSupport
import Testing
import URLClient

@Suite("httpkit fetch -T --resume, and resumed uploads of URLClient", .fewAtOnce, .overTLSToo)
struct FetchUploadTests {
    private let share: Folder
    private let place: Folder
    private var data: String { place.path + "/data" }

    init() throws {
        (share, place) = (try Folder(), try Folder())
    }

    private func serve() async throws -> ServeProcess {
        try await ServeProcess(share, ["--webdav", "/dav"])
    }

    private func isSame(_ name: String) async throws -> Bool {
        try await Program.run("cmp", [data, share.path + "/" + name]).status == 0
    }

    /// 20 cuts, or 50 if `UPLOAD_MIB` sets the size of the upload.
    @Test("An upload over a connection that is cut many times sends less than 1 % twice")
    func manyCuts() async throws {
        let (size, cuts) = (
            (UploadScale.mebibytes ?? 64) << 20, UploadScale.mebibytes == nil ? 20 : 50
        )
        try place.write([UInt8].noise(size, seed: 11), to: "data")
        let server = try await serve()
        let proxy = try await CuttingProxy(
            to: server.port, every: size / (cuts + 1), cuts: cuts, room: 16 << 10)
        let sent = try await Program.run(
            Program.httpkit,
            ["fetch", "-T", data, "--resume", server.url("/dav/a.bin", port: proxy.port)]
                + TestTLS.fetchFlags,
            limit: .seconds(240))
        #expect(sent.status == 0, "\(sent.complaints)")
        #expect(try await isSame("a.bin"))
        try await waitUntil { proxy.counts?.left == 0 && (proxy.counts?.passed ?? 0) >= size }
        let passed = try #require(proxy.counts).passed
        #expect(passed < size + size / 100, "\(passed - size) bytes more")
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == ["data"])
    }

    @Test("The next call continues an interrupted upload", arguments: [SIGINT, SIGKILL])
    func nextCall(_ signal: CInt) async throws {
        let size = 64 << 20
        try place.write([UInt8].noise(size, seed: 12), to: "data")
        let server = try await serve()
        let proxy = try await CuttingProxy(to: server.port, every: 0, cuts: 0, room: 16 << 10)
        let address = server.url("/dav/a.bin", port: proxy.port)
        let words = ["fetch", "-T", data, "--resume", address] + TestTLS.fetchFlags
        // The rate keeps the upload unfinished when 4 MiB have arrived. The check below allows less
        // than that to be sent twice, so it fails for an upload that starts over.
        let call = try RunningProgram(Program.httpkit, words + ["--limit-rate", "2m"])
        let parts = share.path + "/.httpkit-dav/uploads-webdav"
        #expect(await call.wait { _ in Self.largest(in: parts) > 4 << 20 }, "\(call.complaints)")
        call.signal(signal)
        #expect(await call.end() == (signal == SIGINT ? 130 : -SIGKILL), "\(call.complaints)")
        #expect(FileManager.default.fileExists(atPath: data + ".resume"))
        let second = try await Program.run(Program.httpkit, words, limit: .seconds(240))
        #expect(second.status == 0, "\(second.complaints)")
        #expect(try await isSame("a.bin"))
        #expect(!FileManager.default.fileExists(atPath: data + ".resume"))
        try await waitUntil { (proxy.counts?.passed ?? 0) >= size }
        #expect(try #require(proxy.counts).passed < size + (3 << 20))
    }

    private static func largest(in folder: String) -> UInt64 {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let sizes = names.compactMap { name in
            try? FileManager.default.attributesOfItem(atPath: folder + "/" + name)[.size] as? UInt64
        }
        return sizes.max() ?? 0
    }

    @Test("A server without resumable uploads gets the file in a usual PUT")
    func plainServer() async throws {
        try place.write("content", to: "data")
        let bin = try await ServeProcess(share, ["--echo", "/echo"])
        let sent = try await Program.run(
            Program.httpkit,
            ["fetch", "-T", data, "--resume", bin.url("/echo")]
                + TestTLS.fetchFlags)
        #expect(sent.status == 0 && sent.text.contains("\"method\":\"PUT\""))
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == ["data"])
        let refused = try await Program.run(
            Program.httpkit,
            ["fetch", "-T", data, "--resume", bin.url("/none")]
                + TestTLS.fetchFlags)
        #expect(refused.status == 22)
    }

    @Test("--metrics and progress report the upload")
    func metrics() async throws {
        try place.write([UInt8].noise(2_000_000, seed: 14), to: "data")
        let server = try await serve()
        let words =
            ["fetch", "-T", data, "--resume", "--metrics", server.url("/dav/a.bin")]
            + TestTLS.fetchFlags
        let sent = try await Program.run(Program.httpkit, words)
        #expect(sent.status == 0)
        let line = try #require(sent.complaints.split(separator: "\n").last)
        let json = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        #expect(json?["requestContentBytes"] as? Int == 2_000_000)
        // On a terminal, and slow enough to show progress.
        let script = """
            import os, pty, sys
            sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))
            """
        let shown = try await Program.run(
            "python3", ["-c", script, Program.httpkit] + words + ["--limit-rate", "2m"])
        #expect(shown.status == 0 && shown.text.contains(" of 1.9 MiB"), "\(shown.text)")
        #expect(shown.text.contains("\"requestContentBytes\""))
        let quiet = try await Program.run(
            "python3", ["-c", script, Program.httpkit] + words + ["--no-progress"])
        #expect(quiet.status == 0 && !quiet.text.contains(" of 1.9 MiB"), "\(quiet.text)")
    }

    @Test("An upload that the server no longer has begins again")
    func forgotten() async throws {
        let content = [UInt8].noise(2_000_000, seed: 13)
        try place.write(content, to: "data")
        let server = try await serve()
        let request = ClientRequest(.put, server.url("/dav/a.bin"))
        let name = String(repeating: "0", count: 32)
        let gone = try #require(URL(string: server.url("/dav/.uploads/\(name)")))
        let upload = ResumableUpload(
            request, fromFile: data, in: server.client.session,
            resuming: UploadResumeData(
                url: request.url, upload: gone, path: data, length: Int64(content.count)))
        let (_, response) = try await upload.finished()
        #expect(response.status == .created)
        #expect(share.bytes("a.bin").elementsEqual(content))
        let known = try #require(upload.resumeData)
        #expect(known.upload.path.hasPrefix("/dav/.uploads/"))
        // The response was lost, so the client requests it.
        let again = ResumableUpload(
            request, fromFile: data, in: server.client.session, resuming: known)
        #expect(try await again.finished().1.status == .created)
        // A file of another length is another upload.
        try place.write("other", to: "data")
        let other = ResumableUpload(
            request, fromFile: data, in: server.client.session, resuming: known)
        #expect(try await other.finished().1.status == .noContent)
        #expect(share.text("a.bin") == "other")
    }

    @Test("--resume without -T and a file is refused")
    func options() async throws {
        for words in [["-T", "-"], [], ["-T", data, "-o", data + "2"]] {
            let call = try await Program.run(
                Program.httpkit, ["fetch", "--resume", "http://127.0.0.1:9/"] + words)
            #expect(call.status == 64 && call.complaints.contains("--resume continues"))
        }
    }
}
