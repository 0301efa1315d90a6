internal import HTTPCodecs

/// The icons before the names. Each is a symbol at the top of the page, so a row needs only a short
/// reference. The style sheet sets the colours.
enum ListingIcon: String, CaseIterable {
    case folder, file, text, code, image, video, audio, archive, home, up

    /// The icon for a file with this name.
    init(forFile name: [UInt8]) {
        let type = MediaTypeTable.standard.contentType(ofFile: name)
        self = Self.icon(contentType: type)
    }

    private static func icon(contentType: String) -> ListingIcon {
        let essence = String(contentType.prefix { $0 != ";" })
        switch essence.prefix(while: { $0 != "/" }) {
        case "image": return .image
        case "video": return .video
        case "audio": return .audio
        case "text": return proseTypes.contains(essence) ? .text : .code
        default: break
        }
        if archiveTypes.contains(essence) { return .archive }
        if codeTypes.contains(essence) { return .code }
        return documentMarks.contains { essence.contains($0) } ? .text : .file
    }

    private static let proseTypes: Set = [
        "text/plain", "text/markdown", "text/csv", "text/tab-separated-values", "text/calendar",
        "text/vcard", "text/x-rst", "text/vtt",
    ]
    private static let codeTypes: Set = [
        "application/json", "application/xml", "application/yaml", "application/toml",
        "application/sql", "application/wasm", "application/xhtml+xml", "application/ld+json",
    ]
    private static let archiveTypes: Set = [
        "application/zip", "application/gzip", "application/x-tar", "application/x-bzip2",
        "application/x-xz", "application/zstd", "application/x-lzip", "application/vnd.rar",
        "application/x-7z-compressed", "application/x-cpio", "application/x-apple-diskimage",
        "application/x-iso9660-image", "application/java-archive",
    ]
    private static let documentMarks = [
        "pdf", "epub", "msword", "officedocument", "opendocument", "rtf", "vnd.ms-",
        "vnd.apple.", "postscript", "ebook",
    ]

    /// The markup of a row: a reference to the symbol.
    var markup: String { Self.references[self] ?? "" }

    private static let references = Dictionary(
        uniqueKeysWithValues: allCases.map { ($0, reference(to: $0.rawValue)) })

    private static func reference(to name: String) -> String {
        "<svg class=\"icon \(name)\" aria-hidden=\"true\"><use href=\"#\(name)\"/></svg>"
    }

    /// The symbols of all icons, placed at the top of the page.
    static let definitions: String = {
        let symbols = allCases.map {
            "<symbol id=\"\($0.rawValue)\" viewBox=\"0 0 24 24\">\($0.shape)</symbol>"
        }
        return "<svg class=\"symbols\" aria-hidden=\"true\">\(symbols.joined())</svg>\n"
    }()

    private static let sheet = """
        <path class="fill" d="M6.5 2.75h7.4L19.25 8v11.5a1.75 1.75 0 0 1-1.75 1.75h-11a1.75 \
        1.75 0 0 1-1.75-1.75v-15A1.75 1.75 0 0 1 6.5 2.75z"/>\
        <path d="M13.75 3v3.75c0 .83.67 1.5 1.5 1.5H19"/>
        """

    private var shape: String {
        switch self {
        case .folder:
            """
            <path class="solid" d="M2.5 6.25A2.25 2.25 0 0 1 4.75 4h4.1c.6 0 1.17.24 1.6.66l1.4 \
            1.4c.14.13.33.21.53.21h6.87a2.25 2.25 0 0 1 2.25 2.25v9.23A2.25 2.25 0 0 1 19.25 \
            20H4.75a2.25 2.25 0 0 1-2.25-2.25z"/>\
            <path class="shade" d="M2.5 10.5A2.25 2.25 0 0 1 4.75 8.4h14.5a2.25 2.25 0 0 1 2.25 \
            2.1v7.25A2.25 2.25 0 0 1 19.25 20H4.75a2.25 2.25 0 0 1-2.25-2.25z"/>
            """
        case .file: Self.sheet
        case .text: Self.sheet + #"<path d="M8.25 12.25h7.5M8.25 15.25h7.5M8.25 18h4"/>"#
        case .code: Self.sheet + #"<path d="m10 12.5-2.25 2.4L10 17.3m4-4.8 2.25 2.4L14 17.3"/>"#
        case .image:
            """
            <rect class="fill" x="3.25" y="4.25" width="17.5" height="15.5" rx="2"/>\
            <circle cx="8.5" cy="9.25" r="1.5"/>\
            <path d="m3.75 17 4.6-4.4a1 1 0 0 1 1.35-.03l4.9 4.4m-2-1.8 2.7-2.5a1 1 0 0 1 \
            1.35 0l3.6 3.3"/>
            """
        case .video:
            """
            <rect class="fill" x="3.25" y="4.75" width="17.5" height="14.5" rx="2.25"/>\
            <path class="solid" d="M10.25 9.1v5.8a.5.5 0 0 0 .76.43l4.7-2.9a.5.5 0 0 0 \
            0-.86l-4.7-2.9a.5.5 0 0 0-.76.43z"/>
            """
        case .audio:
            """
            <path d="M9.25 17.25V6.6c0-.46.3-.86.75-.98l8-2.1a1 1 0 0 1 1.25.97v10.76"/>\
            <circle class="fill" cx="6.75" cy="17.5" r="2.5"/>\
            <circle class="fill" cx="16.75" cy="15.5" r="2.5"/>\
            <path d="m9.25 9.5 10-2.6"/>
            """
        case .archive:
            """
            <rect class="fill" x="3.25" y="4.25" width="17.5" height="4.5" rx="1.25"/>\
            <path class="fill" d="M4.75 8.75h14.5v9.25a1.75 1.75 0 0 1-1.75 1.75h-11A1.75 1.75 0 \
            0 1 4.75 18z"/><path d="M10 12.5h4"/>
            """
        case .home: #"<path d="M4.5 10.8 12 4.25l7.5 6.55V19a1 1 0 0 1-1 1h-13a1 1 0 0 1-1-1z"/>"#
        case .up: #"<path d="M9 14.5 4.5 10 9 5.5M5 10h9a5 5 0 0 1 5 5v3.5"/>"#
        }
    }
}
