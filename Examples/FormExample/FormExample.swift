// FormExample: a page with a form, and a page with what was entered.
//
//   swift run --package-path Examples FormExample [PORT]
//   curl localhost:8080/
//   curl --data-urlencode 'value=Jo & Co' localhost:8080/
//
// The value is escaped by the template, so that markup in it is shown and does nothing.

import HTTPParser
import HTTPServerCore

@main
struct FormExample {
    static let formPage = """
        <!doctype html>
        <html lang="en">
        <head><meta charset="utf-8"><title>A form</title></head>
        <body>
        <form action="/" method="post">
        <label>Value: <input type="text" name="value"></label>
        <input type="submit" value="Submit">
        </form>
        </body>
        </html>

        """

    static let resultPage = Template(
        """
        <!doctype html>
        <html lang="en">
        <head><meta charset="utf-8"><title>A value</title></head>
        <body>
        <p>Value: <span id="value">%value%</span></p>
        <p><a href="/">Another</a></p>
        </body>
        </html>

        """)

    static func main() async throws {
        let port = CommandLine.arguments.dropFirst().first.flatMap { UInt16($0) } ?? 8080

        var router = Router()
        router.on(.get, "/") { _ in .html(formPage) }
        router.on(.post, "/") { request in
            let form = try await request.form()
            return .template(resultPage, ["value": .text(form["value"] ?? "")])
        }

        print("http://127.0.0.1:\(port)/")
        let configuration = ServerConfiguration(host: "127.0.0.1", port: port)
        try await HTTPServer(configuration, handler: router).run()
    }
}
