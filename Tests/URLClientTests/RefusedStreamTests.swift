import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import URLClient

@Suite("RFC 9113, 8.7: Requests that a server has not processed", .timeLimit(.minutes(3)))
struct RefusedStreamTests {
    /// How a server responds to a request.
    enum Say: String, CaseIterable {
        case answer
        /// REFUSED_STREAM.
        case refuse
        /// INTERNAL_ERROR.
        case fault
        /// GOAWAY with a lower stream identifier; `goawayClose` also ends the connection.
        case goaway, goawayClose
        /// GOAWAY with the request's own stream identifier, and the end of the connection.
        case begunClose
        /// The end of the connection.
        case close
    }

    /// An HTTP/2 server over TLS, on Python's sockets.
    private final class Server: Sendable {
        let port: UInt16
        private let program: RunningProgram
        private let certificates: TestCertificates

        /// - Parameters:
        ///   - plan: how to handle the requests of the first connection, in order; its later
        ///     requests, and those of later connections, get a response.
        ///   - repeats: whether each connection has this plan.
        init(_ plan: [Say], repeats: Bool = false) async throws {
            certificates = try await TestCertificates()
            let identity = try await certificates.identity(for: "127.0.0.1")
            program = try RunningProgram(
                "python3",
                [
                    "-c", Self.script, identity.certificate, identity.key, "\(repeats)",
                ] + plan.map(\.rawValue))
            guard await program.wait(until: { $0.text.hasSuffix("\n") }),
                let port = program.text.split(separator: "\n").first.flatMap({ UInt16($0) })
            else { throw Program.Failure("no server: \(program.complaints)") }
            self.port = port
        }

        func request(_ method: HTTPMethod, _ body: ClientBody = .none) -> ClientRequest {
            ClientRequest(method, "https://127.0.0.1:\(port)/", body: body)
        }

        func session(_ retries: RetryPolicy = RetryPolicy()) -> ClientSession {
            var configuration = ClientConfiguration.ephemeral
            configuration.tls.authorities = .file(certificates.authority.certificate)
            configuration.retries = retries
            configuration.retries.firstDelay = .milliseconds(1)
            return ClientSession(configuration)
        }

        /// The contents of the requests that have some, after that many have arrived.
        func contents(_ count: Int) async -> [String] {
            _ = await program.wait { _ in seen.count >= count }
            return seen
        }

        private var seen: [String] {
            program.text.split(separator: "\n").dropFirst().map(String.init)
        }

        private static let script = """
            import socket, ssl, struct, sys, threading
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(sys.argv[1], sys.argv[2])
            context.set_alpn_protocols(["h2"])
            plan, repeats = sys.argv[4:], sys.argv[3] == "true"
            listener = socket.create_server(("127.0.0.1", 0), backlog=64)
            print(listener.getsockname()[1], flush=True)
            def frame(kind, flags, stream, payload=b""):
                return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) \\
                    + struct.pack(">I", stream) + payload
            def read(connection, count):
                data = b""
                while len(data) < count:
                    piece = connection.recv(count - len(data))
                    if not piece: raise EOFError
                    data += piece
                return data
            def serve(connection, plan):
                try:
                    connection = context.wrap_socket(connection, server_side=True)
                    read(connection, 24)
                    connection.sendall(frame(4, 0, 0))
                    contents = {}
                    while True:
                        head = read(connection, 9)
                        payload = read(connection, int.from_bytes(head[:3], "big"))
                        kind, flags = head[3], head[4]
                        stream = int.from_bytes(head[5:], "big")
                        if kind == 4 and not flags & 1: connection.sendall(frame(4, 1, 0))
                        if kind > 1: continue
                        contents[stream] = contents.get(stream, b"") + (b"" if kind else payload)
                        if not flags & 1: continue
                        text = contents.pop(stream).decode()
                        if text: print(text, flush=True)
                        say = plan.pop(0) if plan else "answer"
                        last = stream if say == "begunClose" else max(stream - 2, 0)
                        if say == "answer": connection.sendall(frame(1, 5, stream, b"\\x88"))
                        if say in ("refuse", "fault"):
                            code = 7 if say == "refuse" else 2
                            connection.sendall(frame(3, 0, stream, struct.pack(">I", code)))
                        if "go" in say or say == "begunClose":
                            connection.sendall(frame(7, 0, 0, struct.pack(">II", last, 0)))
                        if "lose" in say: raise EOFError
                except (EOFError, OSError): pass
                # Closing with unread bytes would make the system discard the last frames.
                try:
                    connection.settimeout(10)
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(4096): pass
                except OSError: pass
                connection.close()
            while True:
                connection, _ = listener.accept()
                threading.Thread(
                    target=serve, args=(connection, list(plan)), daemon=True).start()
                if not repeats: plan = []
            """
    }

    private static let content = "content"

    /// Content that can be sent more than once.
    enum Body: CaseIterable {
        case none, bytes, replayable

        var body: ClientBody {
            let content = Array(RefusedStreamTests.content.utf8)
            return switch self {
            case .none: .none
            case .bytes: .bytes(content)
            case .replayable: .replayable { OneElement(content) }
            }
        }
    }

    @Test(
        "A refused POST is sent once more",
        arguments: [Say.refuse, .goaway, .goawayClose],
        Body.allCases)
    func repeated(_ say: Say, _ body: Body) async throws {
        let server = try await Server([say])
        let (_, response) = try await server.session().data(for: server.request(.post, body.body))
        #expect(response.status == .ok && response.version == .http2)
        let wanted = body == .none ? [] : [Self.content, Self.content]
        #expect(await server.contents(wanted.count) == wanted)
    }

    @Test(
        "A POST is sent once more after GOAWAY on a reused connection", arguments: [1, 2],
        [Say.goaway, .goawayClose])
    func reused(_ count: Int, _ say: Say) async throws {
        let server = try await Server([Say](repeating: .answer, count: count) + [say])
        let session = server.session()
        for _ in 0..<count { _ = try await session.data(for: server.request(.get)) }
        let (_, response) = try await session.data(
            for: server.request(.post, .text(Self.content)))
        #expect(response.status == .ok)
        #expect(await server.contents(2) == [Self.content, Self.content])
    }

    /// INTERNAL_ERROR counts as the server's response.
    @Test(
        "A GET is sent again after a refusal, GOAWAY or the end of the connection",
        arguments: Say.allCases.filter { $0 != .fault }, [0, 1])
    func idempotent(_ say: Say, _ count: Int) async throws {
        let server = try await Server([Say](repeating: .answer, count: count) + [say])
        let session = server.session()
        for _ in 0...count {
            #expect(try await session.data(for: server.request(.get)).1.status == .ok)
        }
    }

    @Test("A refused POST is sent again once, and never with the policy .never")
    func limit() async throws {
        for (policy, count) in [(RetryPolicy(), 2), (.never, 1)] {
            let server = try await Server([.refuse, .refuse], repeats: true)
            let session = server.session(policy)
            let error = await failure {
                try await session.data(for: server.request(.post, .text(Self.content)))
            }
            #expect(error?.kind == .connectionLost && error?.isSafeToRetry == true)
            #expect(await server.contents(count).count == count)
        }
    }

    @Test("A one-time stream is not sent again; the error says that a retry is safe")
    func oneShot() async throws {
        let server = try await Server([.refuse])
        let session = server.session()
        let body = ClientBody.stream(OneElement(Array(Self.content.utf8)))
        let error = await failure { try await session.data(for: server.request(.post, body)) }
        #expect(error?.isSafeToRetry == true, "\(error?.description ?? "-")")
        #expect(await server.contents(1) == [Self.content])
    }

    @Test(
        "A POST that may have been processed is not sent again", arguments: [0, 1],
        [Say.fault, .begunClose, .close])
    func unknown(_ count: Int, _ say: Say) async throws {
        let server = try await Server([Say](repeating: .answer, count: count) + [say])
        let session = server.session()
        for _ in 0..<count { _ = try await session.data(for: server.request(.get)) }
        let error = await failure {
            try await session.data(for: server.request(.post, .text(Self.content)))
        }
        #expect(error?.isSafeToRetry == false, "\(error?.description ?? "-")")
        #expect(await server.contents(1) == [Self.content])
    }
}
