import TestSupport
import ToolkitSystem

@testable import HTTPServerTLS

/// A client and the server's transport, connected in memory, on the thread of the test.
final class TLSPair {
    let client: TLSClient
    let socket = MemorySocket()
    let owner: MemoryOwner
    let transport: any Transport

    /// Stands for a loop.
    final class Loop {}

    /// Bytes without repeated parts.
    static func content(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    }

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    init(_ context: TLSContext, _ client: TLSClient = TLSClient(), on loop: Loop = Loop()) {
        self.client = client
        owner = MemoryOwner(on: loop)
        transport = context.transport(over: socket, for: owner)
    }

    /// Uses the given table, whose keys have a time that the test chooses.
    init(_ table: CertificateTable, _ client: TLSClient) {
        self.client = client
        owner = MemoryOwner(on: Loop())
        transport = TLSTransport(
            over: socket, owner: owner, table: table, room: TLSRoom(), redirects: false)
    }

    /// Closes as the loop of a connection does, because deferred work retains transport and owner.
    deinit {
        transport.close()
        owner.turn()
    }

    /// Passes the client's bytes to the server's socket, as one event.
    func sendFromClient() {
        let bytes = client.take()
        if !bytes.isEmpty { socket.inbox.append(bytes) }
    }

    /// Passes the sent bytes to the client.
    func sendToClient() {
        if !socket.sent.isEmpty { client.feed(socket.sent) }
        socket.sent = []
    }

    func receive(_ size: Int = 4_096) -> (result: IOResult, bytes: [UInt8]) {
        var result = IOResult.wouldBlock
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { room, count in
            result = unsafe transport.receive(into: UnsafeMutableRawBufferPointer(room))
            if case .done(let got) = result { count = got }
        }
        return (result, bytes)
    }

    func send(_ bytes: [UInt8]) -> IOResult {
        unsafe bytes.withUnsafeBytes { unsafe transport.send($0, more: false) }
    }

    /// Passes the first bytes of the client, followed by `more`, and has the server read them.
    func beginHandshake(with more: [UInt8] = []) {
        _ = client.shakeHands()
        sendFromClient()
        if !more.isEmpty { socket.inbox.append(more) }
        _ = receive()
    }

    /// Completes the handshake, or throws the cause of its failure.
    func shakeHands() throws {
        for _ in 0..<64 {
            switch client.shakeHands() {
            case .failed: throw Failure(description: "the client fails: \(owner.failures)")
            case .complete where owner.facts.security != nil:
                // The ticket arrives with the end of the handshake.
                sendToClient()
                return
            default: break
            }
            sendFromClient()
            if case .failed = receive().result {
                throw Failure(description: "the server fails: \(owner.failures)")
            }
            owner.turn()
            transport.becameWritable()
            sendToClient()
        }
        throw Failure(description: "the handshake does not end")
    }

    /// Completes the handshake of TLS 1.3 with a request in the same event, which the server reads.
    /// - Parameter before: has the client send something before its request.
    func shakeHandsWithRequest(
        _ request: [UInt8], before: (TLSClient) -> Void = { _ in }
    ) throws {
        beginHandshake()
        owner.turn()
        sendToClient()
        guard client.shakeHands() == .complete else {
            throw Failure(description: "the handshake has more steps")
        }
        before(client)
        client.write(request)
        sendFromClient()
        socket.sends = []
        let got = receive()
        guard got.bytes == request else { throw Failure(description: "\(got), \(owner.failures)") }
    }

    /// The plaintext of the client after it has received everything.
    func readByClient() -> [UInt8] {
        sendToClient()
        return client.read() ?? []
    }

    /// All plaintext of the server, read with buffers of a size.
    func receiveAll(_ size: Int = 4_096) -> [UInt8] {
        var all: [UInt8] = []
        var inputs = -1
        // Until neither the socket nor the transport reports more.
        while !socket.inbox.isEmpty || owner.inputs != inputs {
            inputs = owner.inputs
            let (result, bytes) = receive(size)
            all += bytes
            if case .failed = result { break }
            owner.turn()
        }
        return all
    }
}

extension TLSContext {
    /// A context with the certificate that all tests share, and with changes to its configuration.
    static func test(_ change: (inout TLSConfiguration) throws -> Void = { _ in }) throws
        -> TLSContext
    {
        var configuration = TLSConfiguration(certificates: [try MadeCertificate.common.get().pair])
        try change(&configuration)
        return try TLSContext(configuration)
    }
}
