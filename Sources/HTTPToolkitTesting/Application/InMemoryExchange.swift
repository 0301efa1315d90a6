internal import HTTPParser
internal import HTTPServerCore
internal import ToolkitSystem

/// A transport in memory. It passes one request to a connection, and reads the response.
///
/// Confined to the loop.
final class InMemoryExchange: Transport, @unchecked Sendable {
    typealias Continuation = CheckedContinuation<TestResponse, any Error>

    private let loop: EventLoop
    private var connection: Connection?
    private var pieces: ArraySlice<ArraySlice<UInt8>>
    private var collector: ResponseCollector
    private var continuation: Continuation?
    private(set) var interest: PollInterest = .read
    /// Whether the exchange is over: the client has its response or an error, or the server ended.
    private var isOver = false
    private var isReadable = false
    private var hasScheduledRead = false

    init(_ pieces: [[UInt8]], to method: HTTPMethod, _ loop: EventLoop) {
        self.loop = loop
        self.pieces = pieces.filter { !$0.isEmpty }.map { $0[...] }[...]
        collector = ResponseCollector(to: method)
    }

    // MARK: The client

    func begin(_ core: ServerCore, _ continuation: Continuation) {
        guard !isOver else { return continuation.resume(throwing: CancellationError()) }
        self.continuation = continuation
        let client = PeerAddress(ipv4: (127, 0, 0, 1), port: 49_152)
        let made = Connection(
            loop: loop, core: core, peer: client, local: .ipv4("127.0.0.1", port: 80))
        connection = made
        guard made.open(self) else { return }
        tellReadable()
    }

    func cancel() {
        isOver = true
        end(.failure(CancellationError()))
        tellHungUp()
    }

    private func end(_ result: Result<TestResponse, any Error>) {
        guard let continuation else { return }
        self.continuation = nil
        continuation.resume(with: result)
    }

    /// Ends the exchange with a result. The client disconnects after the current work of the loop.
    private func finish(_ result: Result<TestResponse, any Error>) {
        isOver = true
        end(result)
        loop.execute { [self] in
            // The server sees an orderly end only if it has read all content.
            if pieces.isEmpty { tellReadable() }
            tellHungUp()
        }
    }

    private func tellHungUp() {
        connection?.handle(
            PollEvent(token: 0, isReadable: false, isWritable: false, isHungUp: true))
    }

    private func tellReadable() {
        hasScheduledRead = false
        guard let connection, isOver || !pieces.isEmpty, interest.contains(.read) else { return }
        isReadable = true
        connection.handle(
            PollEvent(token: 0, isReadable: true, isWritable: false, isHungUp: false))
        isReadable = false
        scheduleRead()
    }

    /// Delivers each piece with a separate event, as soon as the connection wants to read.
    private func scheduleRead() {
        guard !hasScheduledRead, connection != nil, !pieces.isEmpty, interest.contains(.read)
        else { return }
        hasScheduledRead = true
        loop.execute { [self] in tellReadable() }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        guard !isOver else { return }
        do throws(HTTPParseError) {
            try collector.append(unsafe bytes.bindMemory(to: UInt8.self).span)
        } catch {
            return finish(.failure(TestApplicationError.malformed(error)))
        }
        if collector.isWhole { finish(.success(collector.response)) }
    }

    // MARK: The server's transport

    func receive(into room: UnsafeMutableRawBufferPointer) -> IOResult {
        guard isReadable else { return .wouldBlock }
        isReadable = false
        guard let piece = pieces.first else { return isOver ? .done(0) : .wouldBlock }
        let part = piece.prefix(room.count)
        unsafe room.copyBytes(from: part)
        pieces[pieces.startIndex] = piece.dropFirst(part.count)
        if part.count == piece.count { pieces.removeFirst() }
        return .done(part.count)
    }

    func send(_ bytes: UnsafeRawBufferPointer, more: Bool) -> IOResult {
        unsafe take(bytes)
        return .done(bytes.count)
    }

    func sendFile(_ file: CInt, offset: Int64, count: Int64) -> IOResult {
        var bytes = [UInt8](repeating: 0, count: Int(min(count, 256 << 10)))
        return unsafe bytes.withUnsafeMutableBytes { room in
            let result = unsafe Syscalls.read(file, room, at: offset)
            guard case .done(let read) = result, read > 0 else { return result }
            unsafe take(UnsafeRawBufferPointer(rebasing: room[..<read]))
            return result
        }
    }

    func watch(_ interest: PollInterest) {
        self.interest = interest
        scheduleRead()
    }

    func shutdownWriting() { endOfStream() }

    func closesByReset() {}

    func close() {
        endOfStream()
        connection = nil
        pieces = []
    }

    /// Handles the end of the server's output.
    private func endOfStream() {
        guard !isOver else { return }
        isOver = true
        do throws(HTTPParseError) {
            try collector.finish()
        } catch {
            return end(.failure(TestApplicationError.incomplete(collector.response)))
        }
        let response = collector.response
        end(
            collector.isWhole
                ? .success(response) : .failure(TestApplicationError.incomplete(response)))
    }
}
