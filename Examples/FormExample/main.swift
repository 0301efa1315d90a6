// FormExample: a page with a form, and a page with what was entered.
//
//   swift run --package-path Examples FormExample [PORT]
//   curl localhost:8080/
//   curl --data-urlencode 'value=Jo & Co' localhost:8080/
//
// The value is escaped by the template, so that markup in it is shown and does nothing.

import HTTPServerToolkit

let formPage = """
    <!doctype html><html lang="en"><meta charset="utf-8"><title>A form</title>
    <form action="/" method="post">
    <label>Value: <input type="text" name="value"></label> <input type="submit" value="Submit">
    </form>
    """
let resultPage = Template(
    """
    <!doctype html><html lang="en"><meta charset="utf-8"><title>A value</title>
    <p>Value: <span id="value">%value%</span></p>
    """)

let port = CommandLine.arguments.dropFirst().first.flatMap { UInt16($0) } ?? 8080
var router = Router()
router.on(.get, "/") { _ in .html(formPage) }
router.on(.post, "/") { request in
    .template(resultPage, ["value": .text(try await request.form()["value"] ?? "")])
}
let configuration = ServerConfiguration(host: "127.0.0.1", port: port)
try await HTTPServer(configuration, handler: router).run()
