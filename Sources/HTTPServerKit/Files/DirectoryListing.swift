package import HTTPCodecs
package import HTTPParser
package import HTTPServerCore

/// One member of a listed folder.
package struct DirectoryEntry: Hashable, Sendable {
    /// The name in the file system, which need not be UTF-8.
    package var name: [UInt8]
    package var isDirectory: Bool
    /// The size in bytes; not used for a folder.
    package var size: Int64
    package var modified: HTTPDate

    package init(name: [UInt8], isDirectory: Bool, size: Int64, modified: HTTPDate) {
        self.name = name
        self.isDirectory = isDirectory
        self.size = size
        self.modified = modified
    }
}

/// The contents of a folder, rendered as a page or JSON.
///
/// Does not access the file system. All links are relative, so a listing works wherever it is
/// mounted, if its URL ends with a slash.
package struct DirectoryListing: Sendable {
    /// The names of the folders from the root to this one; empty at the root.
    package let path: [[UInt8]]
    /// The name of the root on the page.
    package let rootName: String
    /// The URL of the upload page of the root. A relative URL is relative to the root.
    package let uploadPage: String?
    /// The members: folders first, then by natural order of their names.
    package let entries: [DirectoryEntry]

    /// Creates a listing and sorts its entries. Entries with the names `.` and `..` or an empty
    /// name are left out.
    package init(
        path: [[UInt8]], rootName: String = "Files", uploadPage: String? = nil,
        entries: [DirectoryEntry]
    ) {
        self.path = path
        self.rootName = rootName
        self.uploadPage = uploadPage
        self.entries = Self.ordered(entries.filter { Self.isName($0.name) })
    }

    private static func isName(_ name: [UInt8]) -> Bool {
        !name.isEmpty && name != [0x2E] && name != [0x2E, 0x2E]
    }

    private static func ordered(_ entries: [DirectoryEntry]) -> [DirectoryEntry] {
        let keys = entries.map { NaturalOrderKey($0.name) }
        let order = entries.indices.sorted { left, right in
            guard entries[left].isDirectory == entries[right].isDirectory else {
                return entries[left].isDirectory
            }
            return keys[left] < keys[right]
        }
        return order.map { entries[$0] }
    }
}

extension DirectoryListing {
    /// The formats of a listing. Answers vary by `Accept`.
    package enum Format: Hashable, Sendable {
        case html
        case json

        /// The format for a value of the `Accept` field, `nil` if it is missing: JSON if the client
        /// prefers it to HTML, else a page. A client that accepts neither gets a page, because a
        /// page is better than 406 (RFC 9110, section 12.5.1).
        package init(accept: String?) {
            let preference = accept.flatMap { MediaTypePreference($0) }
            self = preference?.best(of: [.html, .json]) == .json ? .json : .html
        }

        /// The value of `Content-Type`.
        package var mediaType: MediaType {
            self == .html ? .html : .json
        }
    }

    /// The whole listing in a format, in UTF-8.
    package func rendered(as format: Format) -> [UInt8] {
        var pieces = DirectoryListingPieces(self, format)
        var all: [UInt8] = []
        while let piece = pieces.next() { all += piece }
        return all
    }

    /// The listing as content. A long listing is generated while the client reads, so a client that
    /// does not read costs only the memory of the entries.
    package func body(as format: Format) -> ResponseBody {
        let mediaType = format.mediaType.description
        guard entries.count > DirectoryListingPieces.rows else {
            return .bytes(rendered(as: format), mediaType: mediaType)
        }
        return .pulled(
            from: DirectoryListingPieces(self, format), mediaType: mediaType
        ) { pieces in pieces.next() }
    }
}

/// A listing in pieces of some ten kilobytes: the beginning, the members in groups, and the end.
struct DirectoryListingPieces: Sendable {
    /// The number of members in a piece.
    static let rows = 100

    private let listing: DirectoryListing
    private let format: DirectoryListing.Format
    private var position: Int?
    private var isDone = false

    init(_ listing: DirectoryListing, _ format: DirectoryListing.Format) {
        self.listing = listing
        self.format = format
    }

    /// The next piece; `nil` after the last.
    mutating func next() -> [UInt8]? {
        guard !isDone else { return nil }
        guard let start = position else {
            position = 0
            return format == .html ? listing.htmlStart() : listing.jsonStart()
        }
        let end = min(start + Self.rows, listing.entries.count)
        guard start < end else {
            isDone = true
            return format == .html ? listing.htmlEnd() : listing.jsonEnd()
        }
        position = end
        return format == .html ? listing.html(start..<end) : listing.json(start..<end)
    }
}
