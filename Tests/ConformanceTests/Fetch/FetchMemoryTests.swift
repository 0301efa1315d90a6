import Foundation
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("httpkit fetch: memory", .fewAtOnce, .timeLimit(.minutes(10)))
struct FetchMemoryTests {
    /// The size of the downloads, which the environment can increase.
    private static let size =
        (ProcessInfo.processInfo.environment["URLCLIENT_DOWNLOAD_MIB"].flatMap(Int.init) ?? 64)
        << 20

    enum Reader: CaseIterable { case file, fast, slow }

    /// Runs a download; prints the number of bytes, the status, and the program's peak memory in
    /// KiB. A slow reader reads 64 KiB at a time, with pauses.
    private static let script = """
        import os, subprocess, sys, time
        reader, command = sys.argv[1], sys.argv[2:]
        program = subprocess.Popen(command, stdout=subprocess.PIPE)
        size, waits = 0, 0
        while True:
            piece = os.read(program.stdout.fileno(), 1 << 16)
            if not piece: break
            size += len(piece)
            if reader == "slow" and size // (4 << 20) > waits and waits < 16:
                waits += 1
                time.sleep(0.1)
        _, status, usage = os.wait4(program.pid, 0)
        print(size, os.waitstatus_to_exitcode(status), usage.ru_maxrss)
        """

    @Test(
        "The memory of a download does not depend on its length with any kind of reader",
        arguments: Reader.allCases)
    func bounded(_ reader: Reader) async throws {
        let least = try await peak(1, reader)
        let most = try await peak(Self.size, reader)
        if Self.size >= 1 << 30 {
            print("\(reader): \(least) KiB for a byte, \(most) KiB for \(Self.size >> 20) MiB")
        }
        #expect(most - least < (8 << 10) + Sanitizers.memory)
        // Debug builds use more memory from the beginning.
        #if !DEBUG
            #expect(most < 25 << 10)
        #endif
    }

    private static let uploadScript = """
        import os, subprocess, sys
        program = subprocess.Popen(
            sys.argv[2:], stdin=open(sys.argv[1]), stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(program.pid, 0)
        print(os.waitstatus_to_exitcode(status), usage.ru_maxrss,
            int((usage.ru_utime + usage.ru_stime) * 1000))
        """

    enum Source: CaseIterable { case file, memory }

    @Test(
        "D16: an upload is sent in pieces: a file is not in memory, the time grows with length",
        arguments: Source.allCases)
    func uploads(_ source: Source) async throws {
        let seen = Locked([Int]())
        let handler = AsyncHandler { request in
            var count = 0
            for try await piece in request.body { count += piece.count }
            seen.withLock { $0.append(count) }
            return Response(.ok)
        }
        let server = HTTPServer(ServerConfiguration(host: "127.0.0.1", port: 0), handler: handler)
        try await server.start()
        let port = try #require(server.addresses.first?.port)
        var figures: [[Int]] = []
        let sizes = [16 << 20, 128 << 20]
        for size in sizes {
            let folder = try Folder()
            try folder.write([], to: "f")
            let file = try FileHandle(forWritingTo: folder.file("f"))
            try file.truncate(atOffset: UInt64(size))
            try file.close()
            let path = folder.file("f").path
            let content = source == .file ? ["-T", path] : ["-d", "@-"]
            let result = try await Program.run(
                "python3",
                ["-c", Self.uploadScript, path, Program.httpkit, "fetch"] + content
                    + ["http://127.0.0.1:\(port)/"], limit: .seconds(500))
            figures.append(
                result.text.split(separator: " ").compactMap {
                    Int($0.trimmingCharacters(in: .whitespacesAndNewlines))
                })
            try #require(figures.last?.count == 3, "\(result.text)\(result.complaints)")
        }
        await server.shutdown()
        #expect(figures.map { $0[0] } == [0, 0] && seen.withLock { $0 } == sizes)
        if source == .file { #expect(figures[1][1] - figures[0][1] < 8 << 10) }
        // The content is eight times as long; a copy for each piece would take 64 times as long.
        #expect(figures[1][2] < 24 * max(figures[0][2], 10))
    }

    /// Downloads a file of this size, and returns the peak memory in KiB.
    private func peak(_ size: Int, _ reader: Reader) async throws -> Int {
        let folder = try Folder()
        try folder.write([], to: "f")
        let file = try FileHandle(forWritingTo: folder.file("f"))
        try file.truncate(atOffset: UInt64(size))
        try file.close()
        let server = try await ServeProcess(folder)
        let output = try Folder()
        let path = output.file("f").path
        let result = try await Program.run(
            "python3",
            ["-c", Self.script, "\(reader)", Program.httpkit, "fetch", server.url("/f")]
                + (reader == .file ? ["-o", path] : []), limit: .seconds(500))
        let figures = result.text.split(separator: " ").compactMap {
            Int($0.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        try #require(figures.count == 3, "\(result.text)\(result.complaints)")
        #expect(figures[1] == 0)
        #expect(figures[0] == (reader == .file ? 0 : size))
        if reader == .file {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect((attributes[.size] as? NSNumber)?.intValue == size)
        }
        return figures[2]
    }
}
