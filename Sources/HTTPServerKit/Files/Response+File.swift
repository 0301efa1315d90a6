internal import HTTPCodecs
internal import HTTPParser
public import HTTPServerCore
internal import ToolkitSystem

extension Response {
    /// A response with a file, as `FileHandler` sends it: with validators, conditions of the
    /// request (304, 412) and ranges (206, 416).
    ///
    /// The path must come from the program, because links are followed wherever they lead. For
    /// paths from clients use `FileHandler`.
    /// - Parameters:
    ///   - path: the file's path.
    ///   - request: the request; its conditions and ranges are applied for GET and HEAD only.
    ///   - mediaType: the media type; `nil` for that of the file's extension.
    ///   - attachmentName: the name under which browsers save the file instead of showing it; `nil`
    ///     to show it.
    ///   - options: only `cacheAge` and `mediaTypes` are used.
    /// - Throws: `HTTPError`: 404 if the path does not exist or is not a regular file, 403 if the
    ///   permission to read it is missing, 412 if a condition is not met; 503 or 500 for other
    ///   failures.
    public static func file(
        path: String, for request: Request, mediaType: String? = nil,
        attachmentName: String? = nil, options: FileHandler.Options = FileHandler.Options()
    ) throws(HTTPError) -> Response {
        let (file, status) = try open(path)
        let mediaType = mediaType ?? options.mediaTypes.contentType(ofFile: path)
        var response: Response
        if request.knownMethod == .get || request.knownMethod == .head {
            let found = FileHandler.Representation(
                file: file, status: status, mediaType: mediaType)
            response = try FileHandler(options: options).serve(found, request)
        } else {
            response = Response(
                .ok, body: .file(file, count: status.size, mediaType: mediaType))
        }
        if let attachmentName {
            let disposition = ContentDisposition.attachment(fileName: attachmentName)
            response.fields[.contentDisposition] = disposition.description
        }
        return response
    }

    private static func open(_ path: String) throws(HTTPError) -> (OpenFile, FileStatus) {
        let found: (file: OpenFile, status: FileStatus)
        do throws(SystemError) {
            let file = OpenFile(owning: try Syscalls.openFile(path))
            guard let status = RootDirectory.status(of: file.descriptor) else {
                throw SystemError("fstat")
            }
            found = (file, status)
        } catch {
            switch error.fileStatus {
            case .forbidden: throw HTTPError(.forbidden)
            case .missing: throw HTTPError(.notFound)
            case .unavailable: throw HTTPError(.serviceUnavailable)
            case .failure: throw HTTPError(.internalServerError)
            }
        }
        guard found.status.kind == .regular else { throw HTTPError(.notFound) }
        return found
    }
}
