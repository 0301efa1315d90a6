import Foundation
import TestSupport
import Testing

@Suite("httpkit bin: signals", .fewAtOnce, .timeLimit(.minutes(5)))
struct BinSignalTests {
    @Test(
        "A signal right after the first line ends bin with status 0", arguments: [SIGINT, SIGTERM])
    func early(_ number: CInt) async throws {
        for _ in 0..<10 {
            let program = try RunningProgram(Program.httpkit, ["bin", "--port", "0"])
            #expect(await program.wait { !$0.output.isEmpty }, "\(program.complaints)")
            program.signal(number)
            #expect(await program.end() == 0, "\(program.complaints)")
        }
    }
}
