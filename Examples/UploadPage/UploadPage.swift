// UploadPage: a page to move files, with a login, a limit, and uploads that go on after a cut; and
// the same files for file managers by WebDAV.
//
//   SHARE_PASSWORD=secret swift run --package-path Examples UploadPage [PORT] [FOLDER]
//   curl --digest -u me:secret -F 'files[]=@photo.jpg' localhost:8080/upload/upload
//   curl --digest -u me:secret localhost:8080/dav/photo.jpg
//
// Open http://localhost:8080/upload/ in a browser.

import Foundation
import HTTPServerAuthentication
import HTTPServerToolkit
import ResumableUploads
import WebDAVKit
import WebUploader

@main
struct UploadPage {
    static let limit: Int64 = 200 << 20

    static func main() async throws {
        let words = CommandLine.arguments
        let folder = words.count > 2 ? words[2] : "."
        var rules = WebDAVOptions()
        rules.allowedExtensions = ["jpg", "png", "pdf", "txt"]
        rules.contentLimit = limit
        let files = WebDAVHandler(store: try LocalStore(root: folder), options: rules)
        var options = UploaderOptions()
        options.allowedExtensions = rules.allowedExtensions
        options.contentLimit = limit
        options.onEvent = { print($0.operation, $0.failure.map { "\($0)" } ?? "done") }
        var uploads = ResumableUploadHandler.Options()
        uploads.byteLimit = limit
        let page = ResumableUploadHandler(
            UploaderHandler(sharing: files, options: options),
            folder: folder + "/.httpkit-dav/uploads", options: uploads)

        let password = ProcessInfo.processInfo.environment["SHARE_PASSWORD"] ?? ""
        guard !password.isEmpty else {
            print("SHARE_PASSWORD is not set")
            exit(64)
        }
        let accounts = MemoryAccountStore(realm: "Share")
        try accounts.add("me", password: password)
        var login = Authenticator.Options()
        login.schemes = [.digest]
        let authenticator = Authenticator(accounts: accounts, options: login)

        var router = Router()
        router.mountWebDAV("/dav", AuthenticationHandler(files, by: authenticator))
        router.mount("/upload", AuthenticationHandler(page, by: authenticator))
        let port = words.count > 1 ? UInt16(words[1]) : nil
        let configuration = ServerConfiguration(host: "127.0.0.1", port: port ?? 8080)
        try await HTTPServer(configuration, handler: router).run()
    }
}
