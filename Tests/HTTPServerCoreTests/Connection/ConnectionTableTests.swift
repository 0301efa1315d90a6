import Foundation
import HTTPServerCore
import Testing

/// Docs/ConnectionStates.md, worked out by `ConnectionState` itself.
@Suite("The table of a connection's states")
struct ConnectionTableTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let document = root.appending(path: "Docs/ConnectionStates.md")

    @Test("Docs/ConnectionStates.md is what the code does; UPDATE_DOCS=1 rewrites it")
    func documentIsFresh() throws {
        let text = try ConnectionTable(
            source: String(
                contentsOf: Self.root.appending(
                    path: "Sources/HTTPServerCore/Connection/ConnectionState.swift"),
                encoding: .utf8)
        ).document
        if ProcessInfo.processInfo.environment["UPDATE_DOCS"] != nil {
            try text.write(to: Self.document, atomically: true, encoding: .utf8)
        }
        let written = try String(contentsOf: Self.document, encoding: .utf8)
        #expect(
            text == written,
            "Run UPDATE_DOCS=1 make test ARGS='--filter ConnectionTableTests'")
    }

    @Test("Every state has rows, and every state is reached by some")
    func tableIsWhole() {
        let rows = ConnectionTable.rows
        let phases = Set(ConnectionState.Phase.allCases.map { "\($0)" })
        #expect(Set(rows.map(\.phase)) == phases.subtracting(["closed"]))
        #expect(Set(rows.map(\.next)).union(["idle"]) == phases)
    }
}
