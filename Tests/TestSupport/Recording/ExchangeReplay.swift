internal import HTTPParser

/// Sends recorded requests to a server on this machine and compares its responses with the
/// recorded ones.
package struct ExchangeReplay: Sendable {
    /// The fields that may differ, in lower case: they tell of time and place.
    package var ignoredFields: Set<String> = ["date", "etag", "last-modified"]
    /// Whether requests are sent in the pieces in which they came.
    package var keepsPieces = true

    package init() {}

    private struct Answer {
        var status = 0
        var fields: [(name: String, value: String)] = []
        var content: [UInt8] = []
        var isWhole = false
    }

    /// What is different in the server's answer; empty when it is the recorded one.
    ///
    /// Each exchange has a connection of its own. Interim responses and the framing of the content
    /// do not count.
    package func differences(
        _ exchange: RecordedExchange, port: UInt16
    ) async throws -> [String] {
        let pieces = keepsPieces ? exchange.requestPieces : [exchange.request]
        let socket = try LoopbackSocket.connect(to: port)
        let method = HTTPMethod(exchange.method) ?? .get
        let bytes = await OwnThread.run { Self.talk(socket, pieces, method) }
        let expected = Self.answer(exchange.response, to: method)
        let actual = Self.answer(bytes, to: method)
        return differences(expected, actual)
    }

    /// Reads until the response is complete; a server may keep the connection open.
    private static func talk(
        _ socket: LoopbackSocket, _ pieces: [[UInt8]], _ method: HTTPMethod
    ) -> [UInt8] {
        for piece in pieces where !socket.send(piece) { break }
        var bytes: [UInt8] = []
        while true {
            let more = socket.receive()
            bytes += more
            if more.isEmpty || Self.answer(bytes, to: method, isOver: false).isWhole {
                return bytes
            }
        }
    }

    private static func answer(
        _ bytes: [UInt8], to method: HTTPMethod, isOver: Bool = true
    ) -> Answer {
        var parser = ResponseParser()
        parser.expect(method)
        parser.append(bytes.span)
        var answer = Answer()
        for isLast in [false, true] where !isLast || isOver {
            if isLast { try? parser.finish() }
            while let event = try? parser.next() {
                switch event {
                case .interim: break
                case .head(let head):
                    answer.status = Int(head.status.code)
                    for index in 0..<head.fields.count {
                        let field = head.fields[index]
                        answer.fields.append((field.name.description, field.value))
                    }
                case .content(let piece):
                    for index in piece.indices { answer.content.append(piece[index]) }
                case .end:
                    answer.isWhole = true
                    return answer
                }
            }
        }
        return answer
    }

    private func differences(_ expected: Answer, _ actual: Answer) -> [String] {
        var found: [String] = []
        if expected.status != actual.status {
            found.append("status \(expected.status) became \(actual.status)")
        }
        if !actual.isWhole { found.append("the response is not whole") }
        let old = compared(expected.fields)
        let new = compared(actual.fields)
        for name in Set(old.keys).union(new.keys).sorted() where old[name] != new[name] {
            found.append("\(name): \(old[name] ?? ["-"]) became \(new[name] ?? ["-"])")
        }
        if expected.content != actual.content {
            let place = zip(expected.content, actual.content).prefix { $0 == $1 }.count
            found.append(
                "content of \(expected.content.count) became one of \(actual.content.count) bytes,"
                    + " different from byte \(place) on")
        }
        return found
    }

    private func compared(_ fields: [(name: String, value: String)]) -> [String: [String]] {
        let ignored = ignoredFields.union([
            "connection", "keep-alive", "transfer-encoding", "content-length",
        ])
        var values: [String: [String]] = [:]
        for field in fields where !ignored.contains(field.name.lowercased()) {
            values[field.name.lowercased(), default: []].append(field.value)
        }
        return values
    }
}
