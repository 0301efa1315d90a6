import Foundation
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("Temporary folders of uploads")
struct TemporaryFolderTests {
    private func makeOld(_ path: String) throws {
        let date = Date(timeIntervalSinceNow: -200_000)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
    }

    private func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    @Test("A folder that is in use is not swept, however old it is")
    func held() async throws {
        let parent = try ServerDirectory()
        let path = try await sweepAroundHeldFolder(parent)
        try await waitUntil { !isThere(path) }
    }

    private func sweepAroundHeldFolder(_ parent: ServerDirectory) async throws -> String {
        let folder = try await TemporaryFolder.create(below: parent.path)
        let file = try await folder.createFile().path
        let abandoned = parent.path("http-upload-aB3xYz")
        try parent.makeDirectory("http-upload-aB3xYz")
        try parent.write("http-upload-aB3xYz/0", "x")
        for path in [file, folder.path, abandoned + "/0", abandoned] { try makeOld(path) }
        Syscalls.sweepTemporaryFolders(below: parent.path, olderThan: 86_400)
        // The first use of a parent starts a sweep, too, which may still be running.
        try await waitUntil { !isThere(abandoned) }
        #expect(isThere(file))
        return folder.path
    }
}
