public import HTTPCodecs
public import HTTPServerCore

/// How a `WebDAVHandler` serves its store.
public struct WebDAVOptions: Sendable {
    /// Whether nothing can be changed.
    public var isReadOnly = false
    /// Whether names that begin with a dot are shown and taken. It counts for each segment of a
    /// path. Finder writes a file `._name` beside nearly every other.
    public var allowsHidden = false
    /// Whether the files that Finder writes beside others, `._name` and `.DS_Store`, are neither
    /// shown nor taken where other names that begin with a dot are.
    public var blocksAppleDouble = false
    /// The extensions that files may have, without dots, in any case of letters; `nil` for all.
    /// Files with others are neither shown nor taken.
    public var allowedExtensions: Set<String>?
    /// Whether PROPFIND may ask for a whole tree.
    public var allowsInfiniteDepth = true
    /// The most bytes of one file; above it 413, if the length is unknown as soon as more has come.
    public var contentLimit: Int64 = .max
    /// The longest file of which a part may be written by PATCH, in bytes; above it 413. Such a file
    /// is copied for that, so that it is the old or the new one at any moment.
    public var partialUpdateLimit: Int64 = 1 << 30
    /// How long a lock is held at most, in seconds, and how long if the client does not say.
    public var lockTimeout = 3600
    /// The name of the store in listings, and its display name.
    public var rootName = "Files"
    /// Further origins, as `https://example.org`, that Destination and the tags of If may name: those
    /// by which the server is reached through a proxy that sends another Host on. Others, and text
    /// that is no origin (see `isOrigin`), are other servers, and 502 (RFC 4918 section 9.8.5).
    public var origins: [String] = []
    /// Whether a collection is shown as a page to who reads it.
    public var listsCollections = true
    /// Media types by extension.
    public var mediaTypes = MediaTypeTable.standard
    /// Whether files that Finder and Spotlight look for at the root, to find out that there is
    /// nothing to index, are shown as empty ones.
    public var discouragesIndexing = true
    /// Asked before each operation, with its request; `false` refuses it with 403. It may also throw
    /// an `HTTPError`.
    public var shouldPerform: (@Sendable (WebDAVOperation, Request) async throws -> Bool)?
    /// Told of each operation after it has succeeded: of a download when all of its content was
    /// handed to the system, and not at all when the client went away before.
    public var didPerform: (@Sendable (WebDAVOperation, Request) async -> Void)?
    /// Told whenever content of an upload has come, with its bytes so far and how many there will
    /// be, where the client has told it. It runs on the connection's event loop and must not block.
    public var uploadProgress:
        (@Sendable (ResourcePath, _ bytes: Int64, _ total: Int64?, Request) -> Void)?
    /// The defaults.
    public init() {}

    /// Whether a text is an origin of HTTP: a scheme and a host, and a port where it is not that of
    /// the scheme (RFC 6454 section 6.2). A slash may follow.
    public static func isOrigin(_ text: String) -> Bool { Origin(text) != nil }

    /// The same, with extensions as they are compared.
    var normalized: WebDAVOptions {
        var options = self
        options.allowedExtensions = allowedExtensions.map { Set($0.map { $0.lowercased() }) }
        return options
    }
}
