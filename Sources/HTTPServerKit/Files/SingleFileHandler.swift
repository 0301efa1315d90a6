public import HTTPServerCore

/// Serves the current version of one file, with validators, conditions and ranges.
///
/// ```swift
/// router.route(.get, "/manual.pdf", to: SingleFileHandler(path: "/srv/manual-7.pdf"))
/// ```
public struct SingleFileHandler: Handler {
    private let path: String
    private let mediaType: String?
    private let attachmentName: String?
    private let options: FileHandler.Options

    /// Creates a handler.
    /// - Parameters:
    ///   - path: the file's path; links are followed wherever they lead. If the file does not
    ///     exist, the answer is 404.
    ///   - mediaType: the media type; `nil` for that of the file's extension.
    ///   - attachmentName: the name under which browsers save the file instead of showing it; `nil`
    ///     to show it.
    ///   - options: only `cacheAge` and `mediaTypes` are used.
    public init(
        path: String, mediaType: String? = nil, attachmentName: String? = nil,
        options: FileHandler.Options = FileHandler.Options()
    ) {
        self.path = path
        self.mediaType = mediaType
        self.attachmentName = attachmentName
        self.options = options
    }

    /// Answers immediately.
    public func answer(_ request: Request) throws -> Answer {
        if let response = try request.answerIfNotRead() { return .now(response) }
        return .now(
            try .file(
                path: path, for: request, mediaType: mediaType, attachmentName: attachmentName,
                options: options))
    }
}
