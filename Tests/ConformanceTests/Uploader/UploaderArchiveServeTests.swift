import Foundation
import HTTPParser
import TestSupport
import Testing

@Suite("httpkit serve --uploader: archives and events", .fewAtOnce, .overTLSToo)
struct UploaderArchiveServeTests {
    private func server(_ folder: Folder) async throws -> ServeProcess {
        try await ServeProcess(folder, ["--uploader", "/up"])
    }

    @Test func unzipMakesTheSameTree() async throws {
        let folder = try Folder()
        let content = [UInt8].noise(3_000_001, seed: 5)
        try folder.write(content, to: "tree/big.bin")
        try folder.write([], to: "tree/empty.txt")
        for number in 0..<600 { try folder.write("\(number)", to: "tree/many/\(number).txt") }
        try folder.write("hidden", to: "tree/.secret")
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("tree/many/loop").path, withDestinationPath: "..")
        let server = try await server(folder)
        let target = try Folder()
        let zip = target.file("tree.zip").path
        let got = try await server.curl(
            "-o", zip, "-w", "%{http_code} %{content_type}", path: "/up/download?path=/tree/")
        #expect(got.text == "200 application/zip")
        let tested = try await Program.run("unzip", ["-tq", zip])
        #expect(tested.status == 0, "\(tested.text)")
        let made = try await Program.run("unzip", ["-q", zip, "-d", target.path])
        #expect(made.status == 0, "\(made.complaints)")
        #expect(target.bytes("tree/big.bin").elementsEqual(content))
        #expect(target.text("tree/many/599.txt") == "599")
        let same = try await Program.run(
            "diff",
            [
                "-r", "-x", ".secret", "-x", "loop", folder.file("tree").path,
                target.file("tree").path,
            ])
        #expect(same.status == 0, "\(same.text)")
    }

    @Test func aFileThatBecomesShorterCutsTheConnection() async throws {
        let folder = try Folder()
        try folder.write([UInt8](repeating: 7, count: 64 << 20), to: "tree/big.bin")
        let server = try await server(folder)
        let socket = try server.connect()
        try await socket.send(
            "GET /up/download?path=/tree/ HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _ = try await socket.receive(through: "\r\n\r\n")
        // The server is in the middle of the file, and cannot continue until the client reads.
        _ = try await socket.receive(count: 100_000)
        let handle = try #require(FileHandle(forUpdatingAtPath: folder.file("tree/big.bin").path))
        try handle.truncate(atOffset: 1_000_000)
        try handle.close()
        let answer = (try? await socket.receiveAll()) ?? []
        // The response has neither the last chunk nor the directory of the archive.
        #expect(!answer.suffix(5).elementsEqual("0\r\n\r\n".utf8))
        #expect(answer.firstRange(of: [0x50, 0x4B, 5, 6]) == nil)
        #expect(server.isRunning)
        let again = try await server.curl("-o", "/dev/null", path: "/up/download?path=/tree/")
        #expect(again.status == 0)
    }

    #if os(Linux)
        @Test func namesThatAreNoTextAreInIt() async throws {
            let folder = try Folder()
            try folder.write("x", to: "tree/a")
            let made = try await Program.run(
                "sh", ["-c", "printf x > \"$(printf 'tree/b\\377.txt')\""], folder: folder.path)
            try #require(made.status == 0, "\(made.complaints)")
            let server = try await server(folder)
            let target = try Folder()
            let zip = target.file("tree.zip").path
            _ = try await server.curl("-o", zip, path: "/up/download?path=/tree/")
            let listed = try await Program.run("unzip", ["-Z1", zip])
            #expect(listed.status == 0 && listed.text.contains("~"), "\(listed.text)")
            #expect(try await Program.run("unzip", ["-tq", zip]).status == 0)
        }
    #endif

    @Test(
        "Sending an archive of 1 GiB takes less than 8 MiB of memory",
        .enabled(if: FullSuite.isOn, "make test-all"))
    func memoryIsFlat() async throws {
        let folder = try Folder()
        try folder.write("x", to: "tree/small.txt")
        for name in ["one", "two"] {
            let path = folder.file("tree/\(name).bin").path
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            let handle = try #require(FileHandle(forWritingAtPath: path))
            // The hole takes no space on the disk.
            try handle.truncate(atOffset: 512 << 20)
            try handle.close()
        }
        let server = try await server(folder)
        _ = try await server.curl("-o", "/dev/null", path: "/up/download?path=/tree/small.txt")
        let before = UploaderServeTests.memory(of: server.pid)
        let got = try await server.curl(
            "-o", "/dev/null", "-w", "%{size_download}", path: "/up/download?path=/tree/")
        #expect((Int(got.text) ?? 0) > 1 << 30)
        if let before, let after = UploaderServeTests.memory(of: server.pid), !Sanitizers.isOn {
            #expect(after - before < 8 << 10, "KiB before and after: \(before), \(after)")
        }
    }

    @Test func eventsEndWhenTheServerStops() async throws {
        let folder = try Folder()
        let server = try await server(folder)
        let socket = try server.connect()
        try await socket.send("GET /up/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        // After this first line, changes are sent as events.
        _ = try await socket.receive(through: "retry: 3000\n\n")
        let other = try await server.curl("--data-binary", "x", path: "/up/upload?name=a.txt")
        #expect(other.status == 0)
        _ = try await socket.receive(through: "event: changed")
        server.signal(SIGTERM)
        // The response must not be cut off, without an end, after the ten seconds of grace.
        let text = String(decoding: try await socket.receiveAll(), as: UTF8.self)
        #expect(text.hasSuffix("0\r\n\r\n"))
        #expect(await server.waitForEnd() == 0)
    }
}
