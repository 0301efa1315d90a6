import HTTPParser
import HTTPServerCore
import TestSupport
import Testing

@Suite("Several tasks that write to one stream")
struct ConcurrentWriterTests {
    private func handler(_ tasks: Int, _ log: ServerLog<String>) -> SyncHandler {
        let piece = [UInt8](repeating: 0x61, count: 40_000)
        return SyncHandler { _ in
            Response(
                .ok,
                body: .stream { writer in
                    try await withThrowingTaskGroup { group in
                        for _ in 0..<tasks {
                            group.addTask {
                                do {
                                    for _ in 0..<5 { try await writer.write(piece) }
                                } catch {
                                    log.add("\(error)")
                                    throw error
                                }
                            }
                        }
                        try await group.waitForAll()
                    }
                })
        }
    }

    @Test("All tasks wait while the client does not read, and all resume")
    func allGoOn() async throws {
        let log = ServerLog<String>()
        let client = MemoryConnection(
            handler(4, log), peer: MemoryTransport.Peer(credit: 1_000))
        client.send(Sample.get("/"))
        try await client.wait(for: "a blocked send") { $0.interest.contains(.write) }
        await client.settle()
        client.read(1 << 24)
        let record = try await client.output("0\r\n\r\n")
        #expect(ServerAnswer.all(record.output).map(\.content.count) == [20 * 40_000])
        #expect(log.entries.isEmpty)
    }

    @Test("The writes of all tasks fail when the client is gone")
    func allFail() async throws {
        let log = ServerLog<String>()
        let client = MemoryConnection(
            handler(4, log), peer: MemoryTransport.Peer(credit: 1_000))
        client.send(Sample.get("/"))
        try await client.wait(for: "a blocked send") { $0.interest.contains(.write) }
        await client.settle()
        client.hangUp()
        try await client.closed()
        for _ in 0..<4 { #expect(await log.first() != nil) }
    }
}
