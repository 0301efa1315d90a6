import Foundation
import HTTPParser
import TestSupport
import Testing
import URLClient
import WebSocketFrames

@Suite("The Autobahn test suite, families 1 to 7", .fewAtOnce, .timeLimit(.minutes(60)))
struct AutobahnTests {
    /// `make autobahn` runs the client with all families.
    private static let families =
        ProcessInfo.processInfo.environment["AUTOBAHN_CASES"]?.split(separator: " ").map(
            String.init)
        ?? ["1", "2", "3", "4", "5", "6", "7"]
    /// Other tests keep the processor busy, so a response may take longer than the suite's second.
    private static let arguments = ["--patience", "20"] + families
    private static let script = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Scripts/autobahn/run").path

    @Test("The server passes all cases of the suite")
    func server() async throws {
        let server = try await BinProcess()
        let url = server.base.replacingOccurrences(of: "http:", with: "ws:") + "/websocket/echo"
        let result = try await Program.run(
            Self.script, [url] + Self.arguments, limit: .seconds(3_000))
        try #require(result.status != 2, Self.missing(result.text + result.complaints))
        #expect(result.status == 0, "\(result.text)")
    }

    @Test("The client passes all cases of the suite")
    func client() async throws {
        let suite = try RunningProgram(Self.script, ["--server", "0"] + Self.arguments)
        let isReady = await suite.wait { $0.text.contains(" cases\n") || !$0.isRunning }
        let address = suite.text.split(separator: " ").first { $0.hasPrefix("ws://") }
        guard isReady, let base = address?.dropLast() else {
            Issue.record(Self.missing(suite.text + suite.complaints))
            return
        }
        let session = ClientSession(.ephemeral)
        let counter = session.webSocketTask(with: ClientRequest(.get, "\(base)/getCaseCount"))
        guard case .text(let text) = try await counter.receive(), let count = Int(text) else {
            Issue.record("no count of cases")
            return
        }
        for index in 1...count {
            let socket = session.webSocketTask(
                with: ClientRequest(.get, "\(base)/runCase?case=\(index)&agent=client"),
                compression: DeflateExtension.Offer())
            socket.maximumMessageSize = 16 << 20
            await Self.echo(socket)
        }
        await Self.echo(
            session.webSocketTask(
                with: ClientRequest(.get, "\(base)/updateReports?agent=client")))
        #expect(await suite.wait { !$0.isRunning })
        let last = suite.text.split(separator: "\n").last.map(String.init) ?? ""
        #expect(last == "\(count) ok, 0 non-strict, 0 failed of \(count)", "\(suite.text)")
    }

    /// Sends every message back until the connection ends in any way.
    private static func echo(_ socket: WebSocketTask) async {
        do {
            for try await message in socket { try await socket.send(message) }
        } catch {
            // Most cases end the connection with an error.
        }
    }

    private static func missing(_ output: String) -> Comment {
        "the suite is missing; `Scripts/autobahn/run --prepare` installs it: \(output)"
    }
}
