/// One connection to a tested client. It parses only what it needs of a request, and performs the
/// steps of the request's path.
struct TortureConnection {
    /// The limit of a request's head, including one that never ends.
    private static let headLimit = 64 << 10
    /// The most bytes of an endless answer.
    private static let floodLimit = 1 << 30

    private let socket: TortureSocket
    private let cases: [String: TortureCase]
    private var received: [UInt8] = []

    init(socket: TortureSocket, cases: [String: TortureCase]) {
        (self.socket, self.cases) = (socket, cases)
    }

    /// Serves until the connection ends.
    mutating func run() {
        while let target = nextTarget() {
            guard perform(steps(for: target)) else { return }
        }
    }

    private func steps(for target: String) -> [TortureStep] {
        let path = target.prefix { $0 != "?" }.drop { $0 == "/" }
        if path.isEmpty { return [TortureCase.index, .keepOpen] }
        if let found = cases[String(path)] { return found.steps }
        return [.message(["HTTP/1.1 404 Not Found", "Content-Length: 0"]), .keepOpen]
    }

    /// - Returns: whether another request may follow on the connection.
    private mutating func perform(_ steps: [TortureStep]) -> Bool {
        for step in steps {
            switch step {
            case .send(let bytes): if !socket.send(bytes) { return false }
            case .drip(let bytes, let pause):
                for byte in bytes {
                    guard !socket.waitForEnd(pause), socket.send([byte]) else { return false }
                }
            case .flood(let bytes, let times): if !flood(bytes, times) { return false }
            case .pause(let time): if socket.waitForEnd(time) { return false }
            case .wait:
                while !socket.waitForEnd(.seconds(60)) {}
                return false
            case .nextRequest: if nextTarget() == nil { return false }
            case .reset:
                socket.resetOnClose()
                return false
            case .keepOpen: return true
            }
        }
        socket.endWriting()
        return false
    }

    /// Sends the bytes so many times, up to `floodLimit`, and many of them in one write.
    private func flood(_ bytes: [UInt8], _ times: Int) -> Bool {
        let most = min(times, max(1, Self.floodLimit / max(1, bytes.count)))
        let batch = max(1, (32 << 10) / max(1, bytes.count))
        let piece = Array(repeatElement(bytes, count: min(batch, most)).joined())
        var left = most
        while left > 0 {
            let count = min(left, batch)
            guard socket.send(count == batch ? piece : Array(piece.prefix(count * bytes.count)))
            else { return false }
            left -= count
        }
        return true
    }

    // MARK: Requests

    /// The target of the next request, whose content is discarded if its length is known.
    private mutating func nextTarget() -> String? {
        let end = Array("\r\n\r\n".utf8)
        while received.firstRange(of: end) == nil {
            guard received.count < Self.headLimit, let piece = socket.receive() else { return nil }
            received += piece
        }
        guard let range = received.firstRange(of: end) else { return nil }
        let head = String(decoding: received[..<range.lowerBound], as: UTF8.self)
        received.removeSubrange(..<range.upperBound)
        discard(contentLength(head))
        let words = head.prefix { $0 != "\r\n" }.split(separator: " ")
        return words.count > 1 ? String(words[1]) : nil
    }

    private func contentLength(_ head: String) -> Int {
        // Lowercasing may change lengths, so the same text is searched and read.
        let head = head.lowercased()
        let isAwaited = head.contains("expect: 100-continue")
        guard !isAwaited, let start = head.firstRange(of: "content-length:") else { return 0 }
        return Int(head[start.upperBound...].drop { $0 == " " }.prefix { $0.isNumber }) ?? 0
    }

    private mutating func discard(_ count: Int) {
        var left = count
        while true {
            let taken = min(left, received.count)
            received.removeFirst(taken)
            left -= taken
            guard left > 0, let piece = socket.receive() else { return }
            received = piece
        }
    }
}
