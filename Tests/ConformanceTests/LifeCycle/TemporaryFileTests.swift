import Foundation
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("Temporary files when a server stops and starts", .fewAtOnce, .timeLimit(.minutes(3)))
struct TemporaryFileTests {
    private func names(_ folder: Folder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test("No files of interrupted uploads are left when the server has stopped")
    func shutdown() async throws {
        let folder = try Folder()
        var configuration = ServerConfiguration(host: "127.0.0.1", port: 0)
        configuration.loops = 2
        (configuration.headTimeout, configuration.contentGrace) = (.seconds(600), .seconds(600))
        let server = HTTPServer(
            configuration,
            handler: AsyncHandler { [path = folder.path] request in
                let form = try await request.form(filesBelow: path)
                return .text("\(form.files.count)")
            })
        try await server.start()
        let port = try #require(server.addresses.first?.port)
        var sockets: [PlainSocket] = []
        for _ in 0..<20 {
            let socket = try PlainSocket(port: port)
            try await socket.send(
                "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n"
                    + "Content-Type: multipart/form-data; boundary=b\r\n\r\n--b\r\n"
                    + "Content-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\n")
            try await socket.send([UInt8](repeating: 0x61, count: 400_000))
            sockets.append(socket)
        }
        let end = ContinuousClock.now + .seconds(60)
        while try names(folder).count < 20, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try names(folder).count == 20)
        await server.shutdown(grace: .zero)
        #expect(try names(folder).isEmpty)
    }

    @Test("A start removes temporary files of dead processes")
    func sweepAtStart() async throws {
        let place = try Folder()
        try place.write("x", to: "http-upload-aB3xYz/0")
        let manager = FileManager.default
        for path in ["http-upload-aB3xYz/0", "http-upload-aB3xYz"] {
            try manager.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -1_000_000)],
                ofItemAtPath: place.file(path).path)
        }
        let server = try await ServeProcess(
            try Folder(), by: ["/usr/bin/env", "TMPDIR=\(place.path)"])
        try await waitUntil { try names(place).isEmpty }
        #expect(server.isRunning)
    }

    @Test("Only old folders with names of the toolkit are removed")
    func sweep() throws {
        let folder = try Folder()
        let old = Date(timeIntervalSinceNow: -200_000)
        func make(_ name: String, _ date: Date, inner: Date? = nil) throws {
            try folder.write("x", to: "\(name)/0")
            let manager = FileManager.default
            try manager.setAttributes(
                [.modificationDate: inner ?? date], ofItemAtPath: folder.file("\(name)/0").path)
            try manager.setAttributes(
                [.modificationDate: date], ofItemAtPath: folder.file(name).path)
        }
        try make("http-upload-aB3xYz", old)
        try make("http-upload-young1", Date())
        try make("http-upload-filled", old, inner: Date())
        try make("http-upload-toolong", old)
        try make("http-upload-a.b-cd", old)
        try make("other", old)
        Syscalls.sweepTemporaryFolders(below: folder.path, olderThan: 86_400)
        #expect(
            try names(folder) == [
                "http-upload-a.b-cd", "http-upload-filled", "http-upload-toolong",
                "http-upload-young1", "other",
            ])
    }
}
