internal import HTTPParser
public import HTTPServerCore
public import ToolkitSystem

/// Serves the files by which an ACME client proves that it controls a host (RFC 8555 section 8.3),
/// and passes all other requests to another handler.
///
/// The authority sends its requests over plain HTTP to port 80, so wrap this handler around the one
/// that redirects to HTTPS. `certbot certonly --webroot --webroot-path FOLDER` writes the files.
public struct ACMEChallengeHandler: Handler {
    private let inner: any Handler
    private let files: FileHandler

    private static let prefix = "/.well-known/acme-challenge/"

    /// Creates a handler.
    /// - Parameters:
    ///   - handler: answers all other requests.
    ///   - webroot: the folder in which the ACME client creates `.well-known/acme-challenge`. Only
    ///     the folder itself has to exist.
    /// - Throws: the reason why the folder cannot be opened.
    public init(_ handler: some Handler, webroot: String) throws(SystemError) {
        var options = FileHandler.Options()
        options.indexFiles = []
        options.listsDirectories = false
        options.showsHidden = true
        // A challenge is needed for a short time only, so a cache has no use.
        options.cachedBytes = 0
        inner = handler
        files = try FileHandler(directory: webroot, options: options)
    }

    /// Answers a challenge with its file, and passes all other requests to the other handler.
    public func answer(_ request: Request) throws -> Answer {
        // `files` also uses `target`, which an outer handler may have changed.
        guard Self.isChallenge(request.target.path) else {
            return try inner.answer(request)
        }
        return try files.answer(request)
    }

    /// Whether a path names a challenge: the prefix and a base64url token, so that no other file of
    /// the folder is served.
    static func isChallenge(_ path: String) -> Bool {
        guard path.hasPrefix(prefix) else { return false }
        let token = path.utf8.dropFirst(prefix.utf8.count)
        return !token.isEmpty
            && token.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
