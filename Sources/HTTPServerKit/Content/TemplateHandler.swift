internal import HTTPParser
public import HTTPServerCore
internal import ToolkitSystem

/// Serves the pages of a directory with their placeholders filled in: each file is a `Template`.
///
/// Combined with a `FileHandler` of the same directory, it makes a static site dynamic:
///
/// ```swift
/// router.mount("/", FileHandler(root: folder))
/// router.route(.get, matching: #"/(.*/)?([^/]*\.html)?"#, to: TemplateHandler(root: folder) { request in
///     ["peer": .text(request.peer.host)]
/// })
/// ```
///
/// Files are found as `FileHandler` finds them: no request reaches outside of the directory, names
/// that begin with a dot are not served, and the path of a folder serves its index file, or 404.
/// They are read for each request, so changes have effect immediately.
public struct TemplateHandler: Handler {
    /// Returns the values for a request.
    public typealias Values = @Sendable (Request) async throws -> [String: Template.Value]

    private let files: FileHandler
    private let byteLimit: Int
    private let values: Values

    /// Creates a handler.
    /// - Parameters:
    ///   - root: the path of the directory; if it cannot be opened, all requests get 404.
    ///   - byteLimit: the most bytes of a file; a longer one is answered with 500.
    ///   - values: returns the values to fill in.
    public init(root: String, byteLimit: Int = 1 << 20, values: @escaping Values) {
        files = FileHandler(root: root)
        self.byteLimit = byteLimit
        self.values = values
    }

    /// Answers with the file that the request names, filled in.
    public func answer(_ request: Request) -> Answer {
        .later { try await page(for: request) }
    }

    private func page(for request: Request) async throws -> Response {
        if let response = try request.answerIfNotRead() { return response }
        let (file, status, mediaType) = try files.find(request)
        guard status.size <= byteLimit else {
            throw HTTPError(.internalServerError, "the template is too long")
        }
        let limit = byteLimit
        let content = try await BlockingPool.files.runUnlessCancelled {
            try Syscalls.content(of: file.descriptor, upTo: limit)
        }
        let text = Template(bytes: content).filled(try await values(request))
        return Response(
            .ok, fields: [.cacheControl: "no-cache", .xContentTypeOptions: "nosniff"],
            body: .text(text, mediaType: mediaType))
    }
}
