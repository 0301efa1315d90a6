import Foundation
import HTTPParser
import TestSupport
import Testing
import URLClient

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

@Suite(
    "Resumed downloads with a partial file on another file system",
    .enabled(if: OtherDevice.isThere, "/dev/shm and /tmp are the same file system"),
    .timeLimit(.minutes(2)))
struct DownloadDeviceTests {
    // The copy has more than one piece.
    private static let content = TestServer.pattern(3 << 20)
    private static let half = 1 << 20

    private static func peer() throws -> ScriptedPeer {
        try ScriptedPeer { connection in
            while connection.head() != nil {
                connection.send(
                    "HTTP/1.1 206 Part\r\nETag: \"1\"\r\n"
                        + "Content-Length: \(content.count - half)\r\n"
                        + "Content-Range: bytes \(half)-\(content.count - 1)/\(content.count)"
                        + "\r\n\r\n")
                connection.send(Array(content[half...]))
            }
        }
    }

    private static func part(_ device: OtherDevice, _ peer: ScriptedPeer) throws -> ResumeData {
        let path = "\(device.path)/.part"
        #expect(
            FileManager.default.createFile(
                atPath: path, contents: Data(content[..<half]),
                attributes: [.posixPermissions: 0o640]))
        return ResumeData(
            url: try #require(URL(string: peer.url())), partialPath: path, offset: Int64(half),
            validator: "\"1\"")
    }

    @Test("The file is copied with the part's permissions, and the part is removed")
    func moved() async throws {
        let (device, folder) = (try OtherDevice(), try ServerDirectory())
        let peer = try Self.peer()
        let data = try Self.part(device, peer)
        try folder.write("file", "before")
        try await ClientSession(.ephemeral).downloadTask(
            resuming: data, to: folder.path("file")
        ).finished()
        #expect(Files.read(folder.path("file")) == Self.content)
        #expect(Files.names(folder.path) == ["file"] && Files.names(device.path).isEmpty)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("file"))
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o640)
    }

    @Test("A copy that cannot be moved to its place is removed, and the partial file is kept")
    func blocked() async throws {
        let (device, folder) = (try OtherDevice(), try ServerDirectory())
        let peer = try Self.peer()
        let data = try Self.part(device, peer)
        try folder.makeDirectory("file")
        try folder.write("file/inside", "x")
        let task = ClientSession(.ephemeral).downloadTask(
            resuming: data, to: folder.path("file"))
        let error = await failure { try await task.finished() }
        #expect(error?.kind == .cannotWriteFile, "\(String(describing: error))")
        let rest = try #require(error?.resumeData)
        #expect(rest.partialPath == data.partialPath && rest.offset == Int64(Self.content.count))
        #expect(Files.names(folder.path) == ["file"] && Files.names(device.path) == [".part"])
    }
}

/// A folder on another file system than the other folders of the tests, removed with its files.
final class OtherDevice: Sendable {
    let path: String

    init() throws {
        path = "/dev/shm/http-tests-\(UInt64.random(in: 0...UInt64.max))"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false)
    }

    deinit { TestFolder.remove(path) }

    /// Whether another file system is available.
    static var isThere: Bool {
        guard let other = number("/dev/shm"), let tests = number(TestFolder.path) else {
            return false
        }
        return other != tests
    }

    private static func number(_ path: String) -> UInt64? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        return UInt64(truncatingIfNeeded: status.st_dev)
    }
}
