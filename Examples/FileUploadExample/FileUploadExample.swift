// FileUploadExample: a page that takes files, and lists what has come.
//
//   swift run --package-path Examples FileUploadExample [PORT]
//   curl --form files=@README.md --form 'note=from curl' localhost:8080/
//
// The files, of 100 MiB in all at most, are streamed to a temporary folder, and removed with it when
// they have been listed. A program that keeps them moves them away: `file.move(to:)`.

import HTTPServerToolkit

@main
struct FileUploadExample {
    static let formPage = """
        <!doctype html>
        <html lang="en">
        <head><meta charset="utf-8"><title>Upload files</title></head>
        <body>
        <form action="/" method="post" enctype="multipart/form-data">
        <p><label>Files: <input type="file" name="files" multiple></label></p>
        <p><label>Note: <input type="text" name="note"></label></p>
        <p><input type="submit" value="Upload"></p>
        </form>
        </body>
        </html>

        """

    static let listPage = Template(
        """
        <!doctype html>
        <html lang="en">
        <head><meta charset="utf-8"><title>Uploaded files</title></head>
        <body>
        <p>Note: <span id="note">%note%</span></p>
        <table id="files">
        <tr><th>Name</th><th>Media type</th><th>Bytes</th></tr>
        %rows%</table>
        <p><a href="/">More</a></p>
        </body>
        </html>

        """)

    static let row = Template("<tr><td>%name%</td><td>%type%</td><td>%size%</td></tr>\n")

    static func main() async throws {
        let port = CommandLine.arguments.dropFirst().first.flatMap { UInt16($0) } ?? 8080

        var router = Router()
        router.on(.get, "/") { _ in .html(formPage) }
        router.on(.post, "/") { request in
            var limits = UploadedForm.Limits.standard
            limits.multipart.totalBytes = 100 << 20
            let form = try await request.form(limits: limits)
            let rows = form.files.map { file in
                row.filled([
                    "name": .text(file.fileName), "size": "\(file.size)",
                    "type": .text(file.mediaType?.description ?? "none"),
                ])
            }
            // Each row is markup already: the template that made it has escaped what is in it.
            return .template(
                listPage,
                ["note": .text(form["note"] ?? ""), "rows": .markup(rows.joined())])
        }

        print("http://127.0.0.1:\(port)/")
        let configuration = ServerConfiguration(host: "127.0.0.1", port: port)
        try await HTTPServer(configuration, handler: router).run()
    }
}
