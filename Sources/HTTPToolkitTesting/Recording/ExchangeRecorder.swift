internal import HTTPParser
internal import ToolkitSystem

/// Forwards connections between clients and a server on this machine, and records the bytes of both
/// sides unchanged. A client connects to ``port`` instead of the server's port.
///
/// ```swift
/// let recorder = try ExchangeRecorder(forwardingTo: 8080)
/// // Requests go to recorder.port now.
/// for exchange in await recorder.finish() { try exchange.write(into: "Recordings") }
/// ```
///
/// It records HTTP/1.1 in clear text. Everything is kept in memory until ``finish()``.
public final class ExchangeRecorder: Sendable {
    /// A piece that was forwarded, and its time.
    private struct Passage: Sendable {
        var isRequest: Bool
        var time: ContinuousClock.Instant
        var bytes: [UInt8]
    }

    private struct Talk: Sendable {
        var began: ContinuousClock.Instant
        var passages: [Passage] = []
        /// Both sockets, until both directions have ended, so that a long recording does not hold
        /// descriptors.
        var sockets: [LoopbackSocket]
        /// The number of directions that are still open.
        var open = 2
        /// Whether the server's stream has not ended yet.
        var answers = true
        /// Whether the server's stream broke off, or was ended by the client or the recorder: its
        /// last response is then incomplete.
        var isCut = false
    }

    /// The port that clients connect to.
    public let port: UInt16
    private let listener: LoopbackSocket
    private let talks = Locked<[Talk]>([])
    /// Whether the recording is over: later connections are refused.
    private let isOver = Locked(false)
    /// Counts the directions that have ended.
    private let ends = EventCount()

    /// Begins to forward connections to a port of 127.0.0.1.
    /// - Throws: `SystemError` if no socket is available.
    public init(forwardingTo server: UInt16) throws {
        let (listener, port) = try LoopbackSocket.listen()
        (self.listener, self.port) = (listener, port)
        OwnThread.start { [self] in
            while !isOver.withLock({ $0 }) {
                // An error such as too many open files is temporary; the end of the listener is
                // not.
                guard let client = listener.accept() else {
                    listener.pause()
                    continue
                }
                begin(client, server)
            }
        }
    }

    private func begin(_ client: LoopbackSocket, _ port: UInt16) {
        guard let server = try? LoopbackSocket.connect(to: port) else { return client.end() }
        let index = talks.withLock { talks -> Int? in
            if isOver.withLock({ $0 }) { return nil }
            talks.append(Talk(began: .now, sockets: [client, server]))
            return talks.count - 1
        }
        guard let index else { return client.end() }
        OwnThread.start { [self] in pass(index, from: client, to: server, isRequest: true) }
        OwnThread.start { [self] in pass(index, from: server, to: client, isRequest: false) }
    }

    private func pass(
        _ index: Int, from source: LoopbackSocket, to target: LoopbackSocket, isRequest: Bool
    ) {
        var isCut = false
        while true {
            guard let bytes = source.receive() else {
                isCut = true
                break
            }
            if bytes.isEmpty { break }
            let passage = Passage(isRequest: isRequest, time: .now, bytes: bytes)
            talks.withLock { $0[index].passages.append(passage) }
            guard target.send(bytes) else {
                // The client has disconnected. If the server has, it may have answered before.
                isCut = !isRequest
                break
            }
        }
        talks.withLock { talks in
            // A client that breaks off also ends the answer.
            if isCut, talks[index].answers { talks[index].isCut = true }
            if !isRequest { talks[index].answers = false }
        }
        // A regular end would make an incomplete stream look complete.
        if isCut { target.breakOff() } else { target.endWriting() }
        // After the server has closed, do not wait for further bytes of its client.
        if !isRequest { source.end() }
        talks.withLock { talks in
            talks[index].open -= 1
            if talks[index].open == 0 { talks[index].sockets = [] }
        }
        ends.advance()
    }

    /// Ends all connections.
    /// - Returns: the exchanges, in the order of the requests' first bytes. Incomplete exchanges
    ///   are left out.
    public func finish() async -> [RecordedExchange] {
        isOver.withLock { $0 = true }
        listener.end()
        let sockets = talks.withLock { talks in
            for index in talks.indices where talks[index].answers { talks[index].isCut = true }
            return talks.flatMap(\.sockets)
        }
        for socket in sockets { socket.end() }
        while true {
            let known = ends.count
            if talks.withLock({ $0.allSatisfy { $0.open == 0 } }) { break }
            await ends.wait(for: known + 1)
        }
        var exchanges: [(began: ContinuousClock.Instant, exchange: RecordedExchange)] = []
        for talk in talks.withLock({ $0 }) { exchanges += Self.exchanges(of: talk) }
        exchanges.sort { $0.began < $1.began }
        return exchanges.enumerated().map { index, entry in
            var exchange = entry.exchange
            exchange.number = index + 1
            return exchange
        }
    }

    private static func exchanges(
        of talk: Talk
    ) -> [(began: ContinuousClock.Instant, exchange: RecordedExchange)] {
        let sent = talk.passages.filter(\.isRequest)
        let answered = talk.passages.filter { !$0.isRequest }
        let requestBytes = sent.flatMap(\.bytes)
        let responseBytes = answered.flatMap(\.bytes)
        let requests = MessageSplitter.requests(requestBytes)
        let responses = MessageSplitter.responses(
            responseBytes, to: requests.map(\.method), isCut: talk.isCut)
        return zip(requests, responses).map { request, response in
            let pieces = pieces(sent, request.range, talk.began)
            let began = time(sent, at: request.range.lowerBound)
            let exchange = RecordedExchange(
                number: 0, method: request.method.name, status: response.status,
                request: Array(requestBytes[request.range]),
                response: Array(responseBytes[response.range]),
                pieces: pieces + Self.pieces(answered, response.range, talk.began))
            return (began ?? talk.began, exchange)
        }
    }

    private static func time(_ passages: [Passage], at offset: Int) -> ContinuousClock.Instant? {
        var end = 0
        for passage in passages {
            end += passage.bytes.count
            if end > offset { return passage.time }
        }
        return nil
    }

    /// The parts of the pieces that belong to a message.
    private static func pieces(
        _ passages: [Passage], _ range: Range<Int>, _ began: ContinuousClock.Instant
    ) -> [RecordedExchange.Piece] {
        var start = 0
        return passages.compactMap { passage -> RecordedExchange.Piece? in
            let own = (start..<(start + passage.bytes.count)).clamped(to: range)
            start += passage.bytes.count
            guard !own.isEmpty else { return nil }
            let time = began.duration(to: passage.time) / Duration.milliseconds(1)
            return RecordedExchange.Piece(
                isRequest: passage.isRequest, milliseconds: Int(time), count: own.count)
        }
    }
}
