internal import HTTPParser

/// Splits the two streams of a connection into messages.
enum MessageSplitter {
    struct Request {
        var method: HTTPMethod
        var range: Range<Int>
    }

    struct Response {
        var status: Int
        var range: Range<Int>
    }

    /// The complete requests of a stream; a malformed one ends the list.
    static func requests(_ bytes: [UInt8]) -> [Request] {
        var parser = RequestParser()
        parser.append(bytes.span)
        var found: [Request] = []
        var start = 0
        var method = HTTPMethod.get
        while true {
            var isEnd = false
            guard let event = try? parser.next() else { return found }
            switch event {
            case .head(let head): method = head.method
            case .content: break
            case .end: isEnd = true
            }
            guard isEnd else { continue }
            found.append(Request(method: method, range: start..<parser.usedCount))
            start = parser.usedCount
            guard parser.stopReason == nil else { return found }
        }
    }

    /// Whether a stream ends inside its first request, so that a server waits for more.
    static func endsInsideRequest(_ bytes: [UInt8]) -> Bool {
        var parser = RequestParser()
        parser.append(bytes.span)
        do throws(HTTPParseError) {
            while let event = try parser.next() {
                switch event {
                case .head: continue
                case .content: continue
                case .end: return false
                }
            }
            return true
        } catch {
            // A server with other limits may wait for more.
            return true
        }
    }

    /// The responses of a stream to requests with these methods. The last response may end with the
    /// stream, unless the stream was cut off. Interim responses belong to the final one.
    static func responses(
        _ bytes: [UInt8], to methods: [HTTPMethod], isCut: Bool
    ) -> [Response] {
        var parser = ResponseParser()
        for method in methods { parser.expect(method) }
        parser.append(bytes.span)
        var found: [Response] = []
        var start = 0
        var status = 0
        var isOver = false
        while true {
            guard let step = step(&parser) else {
                if isOver || isCut { return found }
                isOver = true
                try? parser.finish()
                continue
            }
            if case .head(let newest) = step { status = newest }
            guard case .end = step else { continue }
            found.append(Response(status: status, range: start..<parser.usedCount))
            start = parser.usedCount
            guard parser.stopReason == nil else { return found }
        }
    }

    private enum Step { case head(Int), inside, end }

    private static func step(_ parser: inout ResponseParser) -> Step? {
        guard let event = try? parser.next() else { return nil }
        switch consume event {
        case .interim: return .inside
        case .content: return .inside
        case .head(let head): return .head(Int(head.status.code))
        case .end: return .end
        }
    }
}
