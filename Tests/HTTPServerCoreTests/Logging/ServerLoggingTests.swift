import HTTPParser
import HTTPServerCore
import HTTPServerKit
import Logging
import TestSupport
import Testing

/// Collects the lines of swift-log.
struct KeptLines: LogHandler {
    let lines: ServerLog<String>
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// A configuration whose server logs to `lines`.
    static func configuration(
        _ lines: ServerLog<String>, _ level: Logger.Level
    ) -> ServerConfiguration {
        let handler = KeptLines(lines: lines, logLevel: level)
        return .test { $0.logger = Logger(label: "test") { _ in handler } }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        let pairs = all.filter { $0.key != "connection" && $0.key != "duration" }
            .sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let connection = all["connection"] == nil ? " without connection" : ""
        lines.add("\(event.level) \(event.message): \(pairs.joined(separator: " "))\(connection)")
    }
}

@Suite("The server's log")
struct ServerLoggingTests {
    private let lines = ServerLog<String>()

    private func configuration(_ level: Logger.Level) -> ServerConfiguration {
        KeptLines.configuration(lines, level)
    }

    struct Unknown: Error {}

    private static let handler = SyncHandler { request in
        if request.path == "/fail" { throw Unknown() }
        if request.path == "/bad" { throw HTTPError(.notFound) }
        return Response(.ok)
    }

    @Test("At info nothing is logged, whatever peers send")
    func quiet() async throws {
        for target in ["/", "/bad", "/%zz", "bad target"] {
            _ = try await exchange(
                Self.handler, "GET", target, configuration: configuration(.info))
        }
        #expect(lines.entries.isEmpty)
    }

    @Test("The error of a failed handler is logged with the request, and not sent to the client")
    func failure() async throws {
        let answer = try await exchange(
            Self.handler, "GET", "/fail?a", configuration: configuration(.error))
        #expect(answer.status == 500)
        #expect(!answer.text.contains("Unknown"))
        let line = try #require(lines.entries.first)
        #expect(line.hasPrefix("error a handler failed: error=Unknown() method=GET request="))
        #expect(line.hasSuffix("-1 target=/fail?a"))
    }

    @Test("At debug each request is logged, also refused ones")
    func debug() async throws {
        let ask = configuration(.debug)
        _ = try await exchange(Self.handler, "GET", "/bad", configuration: ask)
        _ = try await exchange(Self.handler, "GET", "/", "bad field\r\n", configuration: ask)
        #expect(lines.entries.count == 3)
        #expect(lines.entries[0].hasPrefix("debug answered a request: method=GET request="))
        #expect(lines.entries[0].hasSuffix("status=404 target=/bad"))
        #expect(lines.entries[1].hasPrefix("debug refused a request: cause="))
        #expect(lines.entries[2] == "debug answered a request: status=400")
    }

    @Test("At trace each closed connection is logged")
    func trace() async throws {
        _ = try await exchange(Self.handler, configuration: configuration(.trace))
        #expect(lines.entries.last == "trace closed a connection: reason=finished")
    }
}
