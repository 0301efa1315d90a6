import HTTPParser
import HTTPServerCore

/// Answers after a delay. They end if the client disconnects.
extension BinRouter {
    mutating func addDelays() {
        group("Waiting")
        wait(
            nil, "/delay/:seconds", "An answer after this many seconds, at most 10.",
            example: "/delay/1"
        ) { request in
            guard let seconds = Double(request.parameter("seconds")), seconds >= 0 else {
                throw HTTPError(.badRequest, "expected a number of seconds after /delay/")
            }
            let response = try await Self.echo(request)
            try await Task.sleep(for: .seconds(min(seconds, Self.longestDelay)))
            return response
        }
        wait(
            [.get], "/drip",
            "numbytes stars over duration seconds, after delay seconds, with the status code.",
            example: "/drip?numbytes=5&duration=2&delay=0"
        ) { request in
            let count = min(try request.number(inQuery: "numbytes") ?? 10, 10 << 20)
            let duration = try request.seconds(inQuery: "duration") ?? 2
            let delay = try request.seconds(inQuery: "delay") ?? 0
            let code = try request.number(inQuery: "code") ?? 200
            guard let status = HTTPStatus(code), code >= 200 else {
                throw HTTPError(.badRequest, "code is a status from 200 to 999")
            }
            if delay > 0 { try await Task.sleep(for: .seconds(delay)) }
            let drops = PacedWriting(seconds: duration, size: 1, total: count)
            return Response(
                status,
                body: .stream(
                    mediaType: "application/octet-stream", length: Int64(count)
                ) { writer in
                    try await drops.write(count, to: writer) { _, count in
                        [UInt8](repeating: UInt8(ascii: "*"), count: count)
                    }
                })
        }
    }
}
