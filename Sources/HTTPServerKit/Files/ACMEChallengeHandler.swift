internal import HTTPParser
public import HTTPServerCore
public import ToolkitSystem

/// Serves the files by which an ACME client shows that a host is its own (RFC 8555 section 8.3), and
/// leaves everything else to another handler.
///
/// The authority asks by plain HTTP on port 80, so the handler belongs in front of the one that redirects
/// to HTTPS. `certbot certonly --webroot --webroot-path FOLDER` writes into the same folder.
public struct ACMEChallengeHandler: Handler {
    private let inner: any Handler
    private let files: FileHandler

    private static let prefix = "/.well-known/acme-challenge/"

    /// Creates a handler.
    /// - Parameters:
    ///   - handler: answers all other requests.
    ///   - webroot: the folder that has `.well-known/acme-challenge` inside, as soon as the ACME client
    ///     has made that.
    /// - Throws: why the folder cannot be opened.
    public init(_ handler: some Handler, webroot: String) throws(SystemError) {
        var options = FileHandler.Options()
        options.indexFiles = []
        options.listsDirectories = false
        options.showsHidden = true
        // A challenge is asked for once.
        options.cachedBytes = 0
        inner = handler
        files = try FileHandler(directory: webroot, options: options)
    }

    /// Answers with a file, or by the handler.
    public func answer(_ request: Request) throws -> Answer {
        guard Self.isChallenge(request.originalTarget.path) else {
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
