import Foundation
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("Log lines for readers that stop reading")
struct LineWriterTests {
    /// Both ends of a stream, which programs that are started meanwhile do not inherit.
    private static func pipe() throws -> [CInt] {
        var ends: [CInt] = [0, 0]
        #if os(Linux)
            let type = SocketKind.closeOnExecStream
        #else
            let type = SocketKind.stream
        #endif
        let status = unsafe socketpair(AF_UNIX, type, 0, &ends)
        try #require(status == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return ends
    }

    @Test("A truncated line is separated from the next one")
    func cutLine() async throws {
        let ends = try Self.pipe()
        defer { close(ends[1]) }
        let writer = LineWriter(descriptor: ends[1])
        let line = String(repeating: "x", count: 300_000)
        writer.write(line) { line, buffer, _ in buffer.append(line) }
        let handle = FileHandle(fileDescriptor: ends[0], closeOnDealloc: false)
        #expect(handle.availableData.count > 0)
        close(ends[0])
        #expect(writer.flush(within: .seconds(60)))
        #expect(writer.droppedLines == 1)
        let directory = try ServerDirectory()
        let file = try Syscalls.openLog(directory.path("log"))
        defer { close(file) }
        #expect(dup2(file, ends[1]) == ends[1])
        writer.write("next") { line, buffer, _ in buffer.append(line) }
        #expect(writer.flush(within: .seconds(60)))
        let text = String(decoding: try Syscalls.readFile(directory.path("log")), as: UTF8.self)
        #expect(text == "\nnext\n")
    }

    @Test("Lines beyond the limit are dropped, counted and reported to the reader")
    func stalledReader() async throws {
        let ends = try Self.pipe()
        defer { for end in ends { close(end) } }
        let writer = LineWriter(descriptor: ends[1]) { "\($0) lines are missing" }
        let line = String(repeating: "x", count: 999)
        // The stream takes some 200 KiB, the write under way 1 MiB, and the backlog 1 MiB.
        for _ in 0..<4_000 { writer.write(line) { line, buffer, _ in buffer.append(line) } }
        #expect(writer.droppedLines > 1_500)
        #expect(!writer.flush(within: .milliseconds(20)))
        let handle = FileHandle(fileDescriptor: ends[0], closeOnDealloc: false)
        async let data = OwnThread.run { handle.readDataToEndOfFile() }
        let end = ends[1]
        #expect(
            await OwnThread.run {
                let isWritten = writer.flush(within: .seconds(60))
                shutdown(end, CInt(SHUT_WR))
                return isWritten
            })
        let lines = String(decoding: await data, as: UTF8.self).split(separator: "\n")
        // A slow queue may write and report more than once.
        let notices = lines.filter { $0 != line }
        let announced = notices.compactMap { notice in
            notice.hasSuffix(" lines are missing") ? Int(notice.prefix { $0 != " " }) : nil
        }
        #expect(announced.count == notices.count)
        #expect(announced.reduce(0, +) == writer.droppedLines)
        #expect(lines.count - notices.count == 4_000 - writer.droppedLines)
    }
}
