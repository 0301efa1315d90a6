// UploadPage: a page to move files, and the same files for file managers by WebDAV.
//
//   swift run --package-path Examples UploadPage [PORT] [FOLDER]
//   curl -F files[]=@photo.jpg localhost:8080/upload/upload
//   curl localhost:8080/dav/photo.jpg
//
// Open http://localhost:8080/upload/ in a browser.

import HTTPServerToolkit
import WebDAVKit
import WebUploader

@main
struct UploadPage {
    static func main() async throws {
        let words = CommandLine.arguments
        let files = WebDAVHandler(store: try LocalStore(root: words.count > 2 ? words[2] : "."))
        var options = UploaderOptions()
        options.allowedExtensions = ["jpg", "png", "pdf", "txt"]
        options.onEvent = { print($0.operation, $0.failure.map { "\($0)" } ?? "done") }
        var router = Router()
        router.mountWebDAV("/dav", files)
        router.mount("/upload", UploaderHandler(sharing: files, options: options))
        let port = words.count > 1 ? UInt16(words[1]) : nil
        let configuration = ServerConfiguration(host: "127.0.0.1", port: port ?? 8080)
        try await HTTPServer(configuration, handler: router).run()
    }
}
