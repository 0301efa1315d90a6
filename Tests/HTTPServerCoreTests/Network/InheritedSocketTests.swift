import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("Sockets of service managers")
struct InheritedSocketTests {
    private func parse(
        _ environment: [String: String], process: CInt = 42
    ) throws(InheritedSocketError) -> [InheritedSocket] {
        try InheritedSocket.parse(environment, process: process)
    }

    private func describe(_ sockets: [InheritedSocket]) -> [String] {
        sockets.map { "\($0.descriptor) \($0.name)" }
    }

    @Test("Inherited sockets follow standard error and have names")
    func named() throws {
        let sockets = try parse([
            "LISTEN_PID": "42", "LISTEN_FDS": "3", "LISTEN_FDNAMES": "web:admin.socket:",
        ])
        #expect(describe(sockets) == ["3 web", "4 admin.socket", "5 "])
        #expect(sockets.first?.endpoint == .inherited(descriptor: 3))
    }

    @Test("Without names the sockets are named unknown")
    func unnamed() throws {
        let sockets = try parse(["LISTEN_PID": "42", "LISTEN_FDS": "2"])
        #expect(describe(sockets) == ["3 unknown", "4 unknown"])
    }

    @Test("There are no sockets without a manager, with a count of 0, or for another process")
    func none() throws {
        #expect(try parse([:]).isEmpty)
        #expect(try parse(["LISTEN_PID": "42"]).isEmpty)
        #expect(try parse(["LISTEN_FDS": "1"]).isEmpty)
        #expect(try parse(["LISTEN_PID": "41", "LISTEN_FDS": "1"]).isEmpty)
        #expect(try parse(["LISTEN_PID": "42", "LISTEN_FDS": "0"]).isEmpty)
        #expect(
            try parse(["LISTEN_PID": "42", "LISTEN_FDS": "0", "LISTEN_FDNAMES": ""]).isEmpty)
    }

    @Test(
        "A count that is not plain digits, or too large, is malformed",
        arguments: [
            "", "-1", "+1", " 1", "1 ", "0x1", "٣", "99999999999999999999", "4097",
        ])
    func malformedCount(_ text: String) {
        #expect(throws: InheritedSocketError.malformed("LISTEN_FDS")) {
            try parse(["LISTEN_PID": "42", "LISTEN_FDS": text])
        }
    }

    @Test(
        "A process number that is not plain digits is malformed",
        arguments: ["", "-42", "42 ", "99999999999999999999"])
    func malformedProcess(_ text: String) {
        let error = #expect(throws: InheritedSocketError.self) {
            try parse(["LISTEN_PID": text, "LISTEN_FDS": "1"])
        }
        #expect(error?.description == "LISTEN_PID: not what a service manager says")
    }

    @Test("There must be a name for each socket, or none", arguments: ["a", "a:b:c", ""])
    func wrongNames(_ names: String) {
        #expect(throws: InheritedSocketError.malformed("LISTEN_FDNAMES")) {
            try parse(["LISTEN_PID": "42", "LISTEN_FDS": "2", "LISTEN_FDNAMES": names])
        }
    }

    @Test("A server can serve an inherited socket")
    func served() async throws {
        let listener = try #require(
            try Listener.bind(host: "127.0.0.1", port: 0, backlog: 8).first)
        var configuration = ServerConfiguration()
        configuration.loops = 1
        configuration.endpoints = [.inherited(descriptor: try #require(duplicate(listener)))]
        var router = Router()
        router.on(.get, "/") { _ in Response(.ok, body: .text("inherited\n")) }
        let server = HTTPServer(configuration, handler: router)
        try await server.start()
        #expect(server.addresses == [listener.address])
        let client = TestClient(port: try #require(listener.address.port))
        #expect(try await client.get().text == "inherited\n")
        await server.shutdown()
    }

    @Test("A failed start or resume keeps the inherited socket for the next start")
    func failedStart() async throws {
        let listener = try #require(
            try Listener.bind(host: "127.0.0.1", port: 0, backlog: 8).first)
        let taken = try #require(try Listener.bind(host: "127.0.0.1", port: 0, backlog: 8).first)
        let port = try #require(taken.address.port)
        var configuration = ServerConfiguration()
        configuration.loops = 1
        configuration.endpoints = [
            .inherited(descriptor: try #require(duplicate(listener))),
            .tcp(host: "127.0.0.1", port: port),
        ]
        let server = HTTPServer(
            configuration, handler: SyncHandler { _ in Response(.ok, body: .text("mine\n")) })
        for _ in 0..<2 {
            let error = await #expect(throws: ListenError.self) { try await server.start() }
            #expect(error?.description.contains("in use") == true)
        }
        taken.close()
        try await server.start()
        let client = TestClient(port: try #require(listener.address.port))
        #expect(try await client.get().text == "mine\n")
        await server.suspend()
        do {
            let again = try #require(
                try Listener.bind(host: "127.0.0.1", port: port, backlog: 8).first)
            await #expect(throws: ListenError.self) { try await server.resume() }
            await #expect(throws: ListenError.self) { try await server.start() }
            again.close()
        }
        try await server.start()
        #expect(try await client.get().text == "mine\n")
        await server.shutdown()
    }

    private func duplicate(_ listener: Listener) -> CInt? {
        let descriptor = Syscalls.duplicate(listener.descriptor)
        return descriptor < 0 ? nil : descriptor
    }
}
