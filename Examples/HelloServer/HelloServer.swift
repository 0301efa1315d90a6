// HelloServer: the four kinds of answers. A constant one, one with a parameter of the path, one
// that reads the content of the request, and one that is made while it is sent.
//
//   swift run --package-path Examples HelloServer [PORT]
//   curl localhost:8080/
//   curl localhost:8080/hello/Ada
//   curl --data-binary 'any bytes' localhost:8080/echo
//   curl --no-buffer localhost:8080/count
//
// Control-C lets the requests end that run; a second one ends the process.

import HTTPServerToolkit

@main
struct HelloServer {
    static func main() async throws {
        var router = Router()

        // No await inside: answered at once, without a task.
        router.on(.get, "/") { _ in
            Response(.ok, body: .text("Hello\n"))
        }

        router.on(.get, "/hello/:name") { request in
            Response(.ok, body: .text("Hello, \(request.parameters["name"] ?? "you")\n"))
        }

        // The content is read only here, so a client that waits for 100 Continue gets it now.
        router.on(.post, "/echo") { request in
            let content = try await request.body.collect(upTo: 1 << 20)
            return Response(.ok, body: .bytes(content))
        }

        // `write` suspends while the client is slow. Without a length the content is chunked.
        router.on(.get, "/count") { _ in
            Response(
                .ok,
                body: .stream { writer in
                    for number in 1...5 {
                        try await writer.write("\(number)\n")
                        try await Task.sleep(for: .milliseconds(300))
                    }
                })
        }

        let port = CommandLine.arguments.dropFirst().first.flatMap { UInt16($0) } ?? 8080
        let configuration = ServerConfiguration(host: "127.0.0.1", port: port)
        print("http://127.0.0.1:\(port)/")
        let server = HTTPServer(configuration, handler: router)
        try await server.run(stoppingOn: [.interrupt, .terminate])
    }
}
