/// Finds the media type of a file by the last extension of its name.
///
/// The standard table can be changed:
///
/// ```swift
/// var table = MediaTypeTable.standard
/// table.contentType(ofFile: "notes.TXT")      // "text/plain; charset=utf-8"
/// table.contentType(ofFile: "archive.tar.gz") // "application/gzip"
/// table["log"] = MediaType("text", "plain")
/// ```
public struct MediaTypeTable: Sendable {
    /// The most bytes of an extension.
    public static let extensionByteLimit = 16

    /// The `charset` for `text/*` types without one; nil to add none.
    ///
    /// Applies to types that are set afterwards.
    public var textCharset: String? = "utf-8"

    /// The program's own entries; `nil` for a removed extension.
    private var own: [ExtensionKey: String?] = [:]
    private var isStandard = false
    private let fallback = MediaType.octetStream.description

    /// Makes an empty table.
    public init() {}

    /// The usual types of files with some 1,800 extensions: types that IANA has registered, and
    /// types that browsers, desktops and phones use. Text types have `charset=utf-8`.
    public static var standard: MediaTypeTable {
        var table = MediaTypeTable()
        table.isStandard = true
        return table
    }

    /// The media type of an extension, which is without its dot and in any case.
    ///
    /// Nil for an unknown extension; set nil to remove one. Setting traps for an extension that is
    /// empty, contains a dot or a slash, or is longer than ``extensionByteLimit``.
    public subscript(pathExtension: String) -> MediaType? {
        get {
            ExtensionKey(pathExtension.utf8).flatMap(contentType).flatMap { MediaType($0) }
        }
        set {
            guard let key = ExtensionKey(pathExtension.utf8) else {
                preconditionFailure("no extension of 1 to 16 bytes: \(pathExtension)")
            }
            own.updateValue(newValue.map { withCharset($0).description }, forKey: key)
        }
    }

    /// The value of `Content-Type` for a file of this name.
    ///
    /// The extension follows the last dot of the last path component; its case is ignored. A name
    /// without a dot, or whose only dot comes first, has no extension. Names with an unknown
    /// extension or none get `application/octet-stream`. Allocates at most the result.
    public func contentType(ofFile name: String) -> String {
        var name = name
        return name.withUTF8 { unsafe contentType(ofFileNamed: UnsafeRawBufferPointer($0)) }
    }

    /// The value of `Content-Type` for a file whose name is given as bytes.
    ///
    /// The same as ``contentType(ofFile:)-(String)``. The name may not be UTF-8.
    public func contentType(ofFile name: some BidirectionalCollection<UInt8>) -> String {
        let known = name.withContiguousStorageIfAvailable {
            unsafe contentType(ofFileNamed: UnsafeRawBufferPointer($0))
        }
        return unsafe known ?? Array(name).withUnsafeBytes { unsafe contentType(ofFileNamed: $0) }
    }

    /// The same for a name in memory.
    package func contentType(ofFileNamed name: UnsafeRawBufferPointer) -> String {
        guard let key = unsafe Self.key(ofFile: name) else { return fallback }
        return contentType(of: key) ?? fallback
    }

    private func contentType(of key: ExtensionKey) -> String? {
        if !own.isEmpty, let known = own[key] { return known }
        return isStandard ? MediaTypeRows.contentType(of: key) : nil
    }

    private static func key(ofFile name: UnsafeRawBufferPointer) -> ExtensionKey? {
        var start = name.count
        while start > 0, unsafe name[start - 1] != 0x2E {
            guard unsafe name[start - 1] != 0x2F else { return nil }
            start -= 1
        }
        // A dot at the beginning of a component does not begin an extension.
        guard start > 1, unsafe name[start - 2] != 0x2F else { return nil }
        return unsafe ExtensionKey(name[start...])
    }

    private func withCharset(_ type: MediaType) -> MediaType {
        guard let textCharset, type.type == "text", type["charset"] == nil else { return type }
        return type.with(charset: textCharset)
    }
}
