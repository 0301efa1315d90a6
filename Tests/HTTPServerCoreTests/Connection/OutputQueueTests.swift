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

@Suite("Output that waits for a slow client")
struct OutputQueueTests {
    /// Accepts `credit` bytes and no more.
    private final class Sink: Transport {
        var credit = 0
        var fileResult = IOResult.wouldBlock
        private(set) var taken: [UInt8] = []

        func send(_ bytes: UnsafeRawBufferPointer, more: Bool) -> IOResult {
            let count = min(credit, bytes.count)
            guard count > 0 else { return .wouldBlock }
            credit -= count
            unsafe taken += bytes[..<count]
            return .done(count)
        }

        func receive(into room: UnsafeMutableRawBufferPointer) -> IOResult { .wouldBlock }
        func sendFile(_ file: CInt, offset: Int64, count: Int64) -> IOResult { fileResult }
        var interest: PollInterest { .read }
        func watch(_ interest: PollInterest) {}
        func shutdownWriting() {}
        func close() {}
        func closesByReset() {}
    }

    @Test("A read error of a file and a lost peer are different failures")
    func unreadableFile() throws {
        let folder = try ServerDirectory()
        try folder.write("f", [0x61])
        let file = OpenFile(owning: try Syscalls.openFile(folder.path("f")))
        let errors: [(CInt, OutputQueue.Progress)] = [
            (EIO, .fileFailed), (ESTALE, .fileFailed), (EPIPE, .failed), (ECONNRESET, .failed),
        ]
        for (code, progress) in errors {
            var queue = OutputQueue()
            queue.append(file, offset: 0, count: 1)
            let sink = Sink()
            sink.fileResult = .failed(code)
            #expect(queue.send(to: sink) == (progress, 0))
        }
    }

    @Test("A queue that is never empty does not grow", arguments: [1, 100, 10_000])
    func neverEmpty(_ length: Int) {
        var queue = OutputQueue()
        let sink = Sink()
        var sent: [UInt8] = []
        for number in 0..<20_000 {
            let piece = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: length)
            if number < 4 || length < 10_000 || number < 2_000 {
                queue.append(piece)
                sent += piece
            }
            guard number > 3, !queue.isEmpty else { continue }
            sink.credit = length
            _ = queue.send(to: sink)
        }
        #expect(queue.keptItems <= 200)
        sink.credit = .max
        while !queue.isEmpty { _ = queue.send(to: sink) }
        let isWhole = sink.taken == sent
        #expect(isWhole)
        #expect(queue.buffered == 0 && queue.waiting == 0)
    }

    @Test("Short pieces are joined, in their order")
    func joined() {
        var queue = OutputQueue()
        for number in 0..<10_000 { queue.append([UInt8(truncatingIfNeeded: number)]) }
        #expect(queue.keptItems < 10)
        #expect(queue.buffered == 10_000)
        let sink = Sink()
        sink.credit = .max
        while !queue.isEmpty { _ = queue.send(to: sink) }
        #expect(sink.taken == (0..<10_000).map { UInt8(truncatingIfNeeded: $0) })
    }
}
