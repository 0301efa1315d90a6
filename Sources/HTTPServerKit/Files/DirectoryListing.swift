package import HTTPCodecs
package import HTTPParser
package import HTTPServerCore

/// One member of a listed folder.
package struct DirectoryEntry: Hashable, Sendable {
    /// The name as the file system has it, which need not be UTF-8.
    package var name: [UInt8]
    package var isDirectory: Bool
    /// The number of bytes; of no meaning for a folder.
    package var size: Int64
    package var modified: HTTPDate

    package init(name: [UInt8], isDirectory: Bool, size: Int64, modified: HTTPDate) {
        self.name = name
        self.isDirectory = isDirectory
        self.size = size
        self.modified = modified
    }
}

/// The contents of a folder, ready to be shown as a page or as JSON.
///
/// Pure: it knows no file system. All links are relative, so that a listing works wherever it is
/// mounted, as long as its address ends with a slash.
package struct DirectoryListing: Sendable {
    /// The names of the folders from the root to this one; empty at the root.
    package let path: [[UInt8]]
    /// The name of the root on the page.
    package let rootName: String
    /// The address of the upload page of the root; a relative one counts from the root.
    package let uploadPage: String?
    /// The members: folders first, then by natural order of their names.
    package let entries: [DirectoryEntry]

    /// Makes a listing; the order of the entries does not matter.
    ///
    /// Names that are no names (empty, `.` and `..`) are left out.
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
    /// The forms in which a listing is offered. Answers vary by `Accept`.
    package enum Format: Hashable, Sendable {
        case html
        case json

        /// Chooses by the value of the `Accept` field, nil if there is none.
        ///
        /// Sends a page unless the client prefers JSON to HTML; also if it accepts neither, because
        /// a page is better than 406 (RFC 9110, section 12.5.1).
        package init(accept: String?) {
            let preference = accept.flatMap { MediaTypePreference($0) }
            self = preference?.best(of: [.html, .json]) == .json ? .json : .html
        }

        /// The value of `Content-Type`.
        package var mediaType: MediaType {
            self == .html ? .html : .json
        }
    }

    /// The listing in one form, in UTF-8.
    package func rendered(as format: Format) -> [UInt8] {
        var pieces = DirectoryListingPieces(self, format)
        var all: [UInt8] = []
        while let piece = pieces.next() { all += piece }
        return all
    }

    /// The listing as content: a long one is generated while the client reads, so that a client
    /// that never reads costs only the names.
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

/// A listing in pieces of some ten kilobytes: what stands before the members, then some of them at
/// a time, then what stands behind them.
struct DirectoryListingPieces: Sendable {
    /// How many members a piece has.
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
