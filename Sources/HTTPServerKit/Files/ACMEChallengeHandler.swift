internal import HTTPParser
public import HTTPServerCore
public import ToolkitSystem

/// Serves the files by which an ACME client proves that it controls a host (RFC 8555 section 8.3),
/// and passes all other requests to another handler.
///
/// The authority asks by plain HTTP on port 80, so this handler belongs in front of the one that
/// redirects to HTTPS. `certbot certonly --webroot --webroot-path FOLDER` writes into the folder.
public struct ACMEChallengeHandler: Handler {
    private let inner: any Handler
    private let files: FileHandler

    private static let prefix = "/.well-known/acme-challenge/"

    /// Creates a handler.
    /// - Parameters:
    ///   - handler: answers all other requests.
    ///   - webroot: the folder in which the ACME client makes `.well-known/acme-challenge`. Only
    ///     the folder itself has to exist.
    /// - Throws: why the folder cannot be opened.
    public init(_ handler: some Handler, webroot: String) throws(SystemError) {
        var options = FileHandler.Options()
        options.indexFiles = []
        options.listsDirectories = false
        options.showsHidden = true
        // A challenge lives for a short time, so a cache would gain nothing.
        options.cachedBytes = 0
        inner = handler
        files = try FileHandler(directory: webroot, options: options)
    }

    /// Answers a challenge with its file, and all other requests by the other handler.
    public func answer(_ request: Request) throws -> Answer {
        // The files go by the target, which a handler in front may have changed.
        guard Self.isChallenge(request.target.path) else {
            return try inner.answer(request)
        }
        return try files.answer(request)
    }

    /// The name of a challenge is base64url, so nothing else of the folder can be asked for.
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
