internal import HTTPParser

/// Sends recorded requests to a server on this machine, or to an application in memory, and
/// compares the responses with the recorded ones.
///
/// ```swift
/// let app = TestApplication(router)
/// for exchange in try RecordedExchange.all(in: "Recordings") {
///     let differences = try await ExchangeReplay().differences(exchange, in: app)
///     assert(differences.isEmpty, "\(exchange.number): \(differences)")
/// }
/// ```
public struct ExchangeReplay: Sendable {
    /// The fields that may differ, in lower case: they depend on time and place.
    public var ignoredFields: Set<String> = ["date", "etag", "last-modified"]
    /// Whether requests are sent in the recorded pieces.
    public var keepsPieces = true
    /// The time limit of an application in memory for the answer to an incomplete request.
    package var cutRequestLimit = Duration.seconds(60)

    /// Creates a replay that compares everything except the fields that depend on time and place.
    public init() {}

    /// Lists the differences between a server's answer and the recorded one.
    ///
    /// Each exchange has a separate connection. The call gives up after a minute without bytes from
    /// the server. Interim responses and the framing of the content are not compared.
    /// - Parameters:
    ///   - exchange: the exchange whose request is sent.
    ///   - port: the port of 127.0.0.1 that the server listens at.
    /// - Throws: `SystemError` if the connection fails.
    public func differences(
        _ exchange: RecordedExchange, port: UInt16
    ) async throws -> [String] {
        let pieces = pieces(of: exchange)
        let socket = try LoopbackSocket.connect(to: port)
        let method = method(of: exchange)
        let answer = await OwnThread.run { Self.talk(socket, pieces, method) }
        return differences(recorded(exchange), answer)
    }

    /// Lists the differences between the answer of an application in memory and the recorded one.
    ///
    /// An application may answer before it has read the request. If the recorded request is
    /// incomplete and the application waits for the rest, the call gives up after a minute.
    public func differences(
        _ exchange: RecordedExchange, in application: TestApplication
    ) async throws -> [String] {
        let answer: Answer
        do {
            guard let response = try await response(to: exchange, of: application) else {
                return ["the request is not whole"]
            }
            answer = Answer(response: response, isWhole: true)
        } catch TestApplicationError.incomplete(let response) {
            answer = Answer(response: response, isWhole: false)
        }
        return differences(recorded(exchange), answer)
    }

    /// The response of an application; `nil` if an incomplete request gets none in time.
    private func response(
        to exchange: RecordedExchange, of application: TestApplication
    ) async throws -> TestResponse? {
        let pieces = pieces(of: exchange)
        let method = method(of: exchange)
        guard MessageSplitter.endsInsideRequest(exchange.request) else {
            return try await application.response(to: pieces, method: method)
        }
        return try await withThrowingTaskGroup(of: TestResponse?.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await application.response(to: pieces, method: method) }
            group.addTask { [cutRequestLimit] in
                try await Task.sleep(for: cutRequestLimit)
                return nil
            }
            return try await group.next() ?? nil
        }
    }

    private struct Answer: Sendable {
        var response: TestResponse
        var isWhole: Bool
    }

    private func pieces(of exchange: RecordedExchange) -> [[UInt8]] {
        keepsPieces ? exchange.requestPieces : [exchange.request]
    }

    private func method(of exchange: RecordedExchange) -> HTTPMethod {
        HTTPMethod(exchange.method) ?? .get
    }

    /// Reads until the response is complete, because a server may keep the connection open. Sends
    /// on another thread, because a server may answer before it has read the request.
    private static func talk(
        _ socket: LoopbackSocket, _ pieces: [[UInt8]], _ method: HTTPMethod
    ) -> Answer {
        socket.limitWaits(seconds: 60)
        OwnThread.start { for piece in pieces where !socket.send(piece) { break } }
        defer { socket.end() }
        var collector = ResponseCollector(to: method)
        do throws(HTTPParseError) {
            while !collector.isWhole {
                // A reset, or a minute without bytes, does not end content.
                guard let more = socket.receive() else { break }
                if more.isEmpty {
                    try collector.finish()
                    break
                }
                try collector.append(more.span)
            }
        } catch {
            return Answer(response: collector.response, isWhole: false)
        }
        return Answer(response: collector.response, isWhole: collector.isWhole)
    }

    private func recorded(_ exchange: RecordedExchange) -> Answer {
        var collector = ResponseCollector(to: method(of: exchange))
        do throws(HTTPParseError) {
            try collector.append(exchange.response.span)
            try collector.finish()
        } catch {
            return Answer(response: collector.response, isWhole: false)
        }
        return Answer(response: collector.response, isWhole: collector.isWhole)
    }

    private func differences(_ expected: Answer, _ actual: Answer) -> [String] {
        var found: [String] = []
        let (was, now) = (expected.response, actual.response)
        if was.status != now.status {
            found.append("status \(was.status.code) became \(now.status.code)")
        }
        if !actual.isWhole { found.append("the response is not whole") }
        let old = compared(was.fields)
        let new = compared(now.fields)
        for name in Set(old.keys).union(new.keys).sorted() where old[name] != new[name] {
            found.append("\(name): \(old[name] ?? ["-"]) became \(new[name] ?? ["-"])")
        }
        if was.content != now.content {
            let place = zip(was.content, now.content).prefix { $0 == $1 }.count
            found.append(
                "content of \(was.content.count) became one of \(now.content.count) bytes,"
                    + " different from byte \(place) on")
        }
        return found
    }

    private func compared(_ fields: HTTPFields) -> [String: [String]] {
        let ignored = ignoredFields.union([
            "connection", "keep-alive", "transfer-encoding", "content-length",
        ])
        var values: [String: [String]] = [:]
        for field in fields {
            let name = field.name.text.lowercased()
            if !ignored.contains(name) { values[name, default: []].append(field.value) }
        }
        return values
    }
}
