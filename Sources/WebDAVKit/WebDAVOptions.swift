public import HTTPCodecs
public import HTTPServerCore

/// The settings of a `WebDAVHandler`.
public struct WebDAVOptions: Sendable {
    /// Whether changes are refused.
    public var isReadOnly = false
    /// Whether names that begin with a dot are shown and accepted, in each segment of a path.
    /// Finder writes a file `._name` for nearly every other file.
    public var allowsHidden = false
    /// Whether files that Finder writes beside other files, `._name` and `.DS_Store`, are hidden
    /// and refused even where other names that begin with a dot are allowed.
    public var blocksAppleDouble = false
    /// The extensions that files may have, without dots; case is ignored; `nil` for all.
    /// Other files are hidden and refused.
    public var allowedExtensions: Set<String>?
    /// Whether PROPFIND may ask for a whole tree.
    public var allowsInfiniteDepth = true
    /// The most bytes of one file; above it 413. If the length was not announced, 413 is sent as
    /// soon as more bytes have arrived.
    public var contentLimit: Int64 = .max
    /// The longest file that PATCH may change, in bytes; above it 413. The file is copied, so that
    /// it is the old or the new one at any moment.
    public var partialUpdateLimit: Int64 = 1 << 30
    /// The longest lock, in seconds, and the default if the client requests no timeout.
    public var lockTimeout = 3600
    /// The name of the store in listings, and its display name.
    public var rootName = "Files"
    /// Further origins, such as `https://example.org`, that Destination and the tags of If may
    /// name: the origins by which clients reach the server through a proxy that changes Host. Any
    /// other origin counts as another server, and gets 502 (RFC 4918 section 9.8.5). An element
    /// that is not an origin has no effect (see `isOrigin`).
    public var origins: [String] = []
    /// Whether GET of a collection returns a page.
    public var listsCollections = true
    /// Media types by extension.
    public var mediaTypes = MediaTypeTable.standard
    /// Whether the root seems to contain the empty files that keep Spotlight and Finder from
    /// indexing it.
    public var discouragesIndexing = true
    /// Called before each operation, with its request; `false` refuses it with 403. It may also
    /// throw an `HTTPError`.
    public var shouldPerform: (@Sendable (WebDAVOperation, Request) async throws -> Bool)?
    /// Called after each operation that succeeded. A download has succeeded when the system has
    /// taken all of its content; there is no call if the client disconnects earlier.
    public var didPerform: (@Sendable (WebDAVOperation, Request) async -> Void)?
    /// Called whenever content of an upload arrives, with the bytes so far and the announced
    /// length, if there is one. It runs on the connection's event loop and must not block.
    public var uploadProgress:
        (@Sendable (ResourcePath, _ bytes: Int64, _ total: Int64?, Request) -> Void)?
    /// The defaults.
    public init() {}

    /// Whether a text is an origin with the scheme `http` or `https`: scheme, host, and optionally
    /// a port (RFC 6454 section 6.2). A slash may follow.
    public static func isOrigin(_ text: String) -> Bool { Origin(text) != nil }

    /// These options with the extensions in lower case, as they are compared.
    var normalized: WebDAVOptions {
        var options = self
        options.allowedExtensions = allowedExtensions.map { Set($0.map { $0.lowercased() }) }
        return options
    }
}
