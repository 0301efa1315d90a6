import HTTPServerDiscovery
import HTTPServerToolkit
import WebDAVKit
import WebUploader

func startUploader(on folder: String) async throws -> HTTPServer {
    let uploader = UploaderHandler(store: try LocalStore(root: folder))
    let server = HTTPServer(ServerConfiguration(host: "*", port: 8080), handler: uploader)
    try await server.start()
    if let url = server.primaryURL { print("Visit \(url) in your web browser") }
    return server
}

func customizedUploader(on folder: String) throws -> UploaderHandler {
    var options = UploaderOptions()
    options.title = "Inbox"
    options.header = "The inbox of Jo & Co"
    options.prologue = .markup(TrustedMarkup("<p>Drop your <em>scans</em> here.</p>"))
    options.epilogue = "Files are kept for a week."
    options.footer = "Inbox 1.2"
    options.allowedExtensions = ["pdf", "png"]
    options.allowsHidden = false
    options.shouldPerform = { operation, request in
        switch operation {
        case .upload(let path): path.segments.count <= 3
        case .delete, .move: request.identity?.name == "jo"
        default: true
        }
    }
    options.onEvent = { event in
        guard event.failure == nil else { return }
        switch event.operation {
        case .upload(let path): print("uploaded \(path)")
        case .move(let path, let target): print("moved \(path) to \(target)")
        case .delete(let path): print("deleted \(path)")
        default: break
        }
    }
    return UploaderHandler(store: try LocalStore(root: folder), options: options)
}
