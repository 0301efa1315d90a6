import HTTPParser
import HTTPServerCore
import ToolkitSystem
import URLClient
import WebSocketFrames

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A WebSocket on the standard streams: each line of input is sent as a text message, and each
/// received message is printed as a line. Messages printed unchanged may contain line breaks; as
/// JSON they do not.
struct WebSocketConsole: Sendable {
    let task: WebSocketTask
    /// The timeout of the whole exchange; `nil` for none.
    let timeout: Duration?
    /// Whether the response of the handshake is printed.
    let includesHead: Bool
    /// Whether messages are printed as JSON.
    let printsJSON: Bool
    /// Whether the close is reported on standard error.
    let showsMessages: Bool

    /// Whether a URL names a WebSocket.
    static func takes(_ url: String) -> Bool {
        let scheme = url.prefix { $0 != ":" }.lowercased()
        return scheme == "ws" || scheme == "wss"
    }

    /// The reason to end the connection.
    private enum Stop {
        case signal(CInt)
        case timeout
        /// The input cannot be sent.
        case input(any Error)
    }

    /// Exchanges messages until either side closes.
    /// - Returns: the exit status: 0 for a normal close.
    func run() async throws -> Int32 {
        let stop = Locked<Stop?>(nil)
        let watch = SignalWatch([.interrupt, .terminate]) { signal in
            stop.withLock { $0 = $0 ?? .signal(signal.number) }
            task.cancel()
        }
        defer { watch.end() }
        let limit = timeout.map { duration in
            Task {
                try await Task.sleep(for: duration)
                stop.withLock { $0 = $0 ?? .timeout }
                task.cancel()
            }
        }
        defer { limit?.cancel() }
        do {
            let response = try await task.opened()
            if includesHead { try Fetch.write(head: response) }
            // Nothing waits for this task, because the input may never end.
            Task {
                do {
                    try await send()
                } catch {
                    stop.withLock { $0 = $0 ?? .input(error) }
                    task.cancel(with: .goingAway)
                }
            }
            for try await message in task { try print(message) }
        } catch is WebSocketClosedError {
            // `task.end` has the details.
        } catch {
            try report(stop.withLock { $0 })
            throw error
        }
        try report(stop.withLock { $0 })
        return status()
    }

    private func report(_ stop: Stop?) throws {
        switch stop {
        case nil: break
        case .signal(let number): throw Fetch.Interrupted(signal: number)
        case .timeout: throw ClientError(.timedOut(.total))
        case .input(let error): if !(error is WebSocketClosedError) { throw error }
        }
    }

    private func print(_ message: WebSocketMessage) throws {
        var line = ByteBuffer()
        if printsJSON {
            line.append(json: message)
        } else {
            line.append(message.bytes.span)
        }
        line.append(literal: "\n")
        try StandardOutput.write(&line)
    }

    // MARK: Input

    /// Sends line by line, and closes at the end of the input.
    private func send() async throws {
        var lines = InputLines()
        for try await piece in StandardInputPieces() {
            for line in lines.append(piece) { try await send(line) }
        }
        if let line = lines.finish() { try await send(line) }
        task.cancel(with: .normal)
    }

    private func send(_ line: [UInt8]) async throws {
        guard let text = String(validating: line, as: UTF8.self) else {
            throw ClientError(.badRequest, "a line of the input is not UTF-8")
        }
        try await task.send(text)
    }

    // MARK: The end

    private func status() -> Int32 {
        guard let end = task.end else { return 2 }
        let reason = end.reason.isEmpty ? "" : " \(Fetch.harmless(end.reason))"
        if showsMessages { warn("closed with \(end.code)\(reason)") }
        switch end.cause {
        case .peer, .local: return end.code == .normal || end.code == .noStatus ? 0 : 22
        case .failure: return ClientError(.badResponse).exitCode
        case .transport: return ClientError(.connectionLost).exitCode
        }
    }
}

extension ByteBuffer {
    /// Adds a message as a JSON object, which has no line break in it.
    fileprivate mutating func append(json message: WebSocketMessage) {
        switch message {
        case .text(let text):
            append(literal: "{\"text\":")
            append(json: text)
        case .binary(let bytes):
            append(literal: "{\"base64\":")
            append(base64: bytes)
        }
        append(literal: "}")
    }
}

/// Splits input that arrives in pieces into lines, without their ends.
struct InputLines {
    private var rest: [UInt8] = []

    /// Takes a piece.
    /// - Returns: the lines that are complete with it.
    mutating func append(_ piece: [UInt8]) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var start = piece.startIndex
        while let end = piece[start...].firstIndex(of: UInt8(ascii: "\n")) {
            rest += piece[start..<end]
            lines.append(take())
            start = end + 1
        }
        rest += piece[start...]
        return lines
    }

    /// The last line, if it has no line end.
    mutating func finish() -> [UInt8]? { rest.isEmpty ? nil : take() }

    private mutating func take() -> [UInt8] {
        if rest.last == UInt8(ascii: "\r") { rest.removeLast() }
        defer { rest = [] }
        return rest
    }
}
