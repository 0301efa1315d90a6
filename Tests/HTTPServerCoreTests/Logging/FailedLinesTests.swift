import Foundation
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

#if os(Linux)
    @Suite("Lines that could not be written")
    struct FailedLinesTests {
        @Test("Lost lines are reported with the next written line, also after a failed report")
        func announcement() async throws {
            let target = unsafe open("/dev/full", O_WRONLY | O_CLOEXEC)
            try #require(target >= 0)
            defer { close(target) }
            let writer = LineWriter(descriptor: target) { "\($0) lines are missing" }
            for _ in 1...2 {
                writer.write("lost") { line, buffer, _ in buffer.append(line) }
                #expect(writer.flush(within: .seconds(60)))
            }
            #expect(writer.droppedLines == 2)
            let directory = try ServerDirectory()
            let file = try Syscalls.openLog(directory.path("log"))
            defer { close(file) }
            #expect(dup2(file, target) == target)
            writer.write("next") { line, buffer, _ in buffer.append(line) }
            #expect(writer.flush(within: .seconds(60)))
            let text = String(
                decoding: try Syscalls.readFile(directory.path("log")), as: UTF8.self)
            #expect(text.split(separator: "\n").sorted() == ["2 lines are missing", "next"])
        }
    }
#endif
