extension MediaType {
    /// Whether content of this type is worth compressing: text, JSON, XML, scripts, and fonts,
    /// images and other formats that are not already compressed.
    public var isCompressible: Bool {
        Self.isCompressible(contentType: essence)
    }

    /// Whether content is worth compressing, by the value of its `Content-Type`.
    ///
    /// The same as ``isCompressible``, without parsing a media type first. False if the type or
    /// subtype is missing; the rest of the grammar is not checked.
    public static func isCompressible(contentType: String) -> Bool {
        var contentType = contentType
        return contentType.withUTF8 { unsafe isCompressible($0) }
    }

    /// The same for a value in memory.
    package static func isCompressible(_ contentType: UnsafeBufferPointer<UInt8>) -> Bool {
        var end = 0
        while end < contentType.count, unsafe !endsEssence(contentType[end]) { end += 1 }
        let essence = unsafe Span(_unsafeElements: contentType).extracting(first: end)
        guard let slash = essence.firstIndex(of: UInt8(ascii: "/")) else { return false }
        let subtype = essence.extracting(droppingFirst: slash + 1)
        switch slash {
        case 4 where essence.begins(with: "text/"): return !subtype.isEmpty
        case 7 where essence.begins(with: "message/"): return !subtype.isEmpty
        default: break
        }
        if compressibleSuffixes.contains(where: { subtype.ends(with: $0) }) { return true }
        return compressibleTypes.contains {
            $0.utf8CodeUnitCount == essence.count && essence.begins(with: $0)
        }
    }

    private static func endsEssence(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ";") || byte == UInt8(ascii: " ") || byte == 0x09
    }

    private static let compressibleSuffixes: [StaticString] = [
        "+json", "+xml", "+yaml", "+json-seq",
    ]

    private static let compressibleTypes: [StaticString] = [
        "application/json", "application/javascript", "application/xml", "application/wasm",
        "image/x-icon", "image/vnd.microsoft.icon", "image/bmp", "font/ttf", "font/otf",
        "font/collection", "application/vnd.ms-fontobject", "application/x-ndjson",
        "application/ndjson", "application/jsonl", "application/json5", "application/json-seq",
        "application/yaml", "application/x-yaml", "application/toml", "application/sql",
        "application/graphql", "application/rtf", "application/postscript", "application/x-sh",
        "application/xml-dtd", "application/ecmascript", "application/x-javascript",
        "application/x-httpd-php", "application/x-www-form-urlencoded", "application/n-triples",
        "application/n-quads", "application/trig", "application/x-subrip", "application/x-tex",
        "application/x-latex", "application/vnd.apple.mpegurl", "audio/x-mpegurl",
        "application/x-tar", "application/x-plist", "application/x-perl",
        "model/obj", "model/mtl", "model/stl", "model/step", "model/iges", "model/vrml",
        "image/x-portable-pixmap", "image/x-portable-graymap", "image/x-portable-bitmap",
        "image/x-xbitmap", "image/x-xpixmap", "application/vnd.sqlite3",
        "application/pem-certificate-chain", "application/pgp-signature",
    ]
}

extension Span<UInt8> {
    fileprivate func firstIndex(of byte: UInt8) -> Int? {
        for index in indices where self[index] == byte { return index }
        return nil
    }

    /// Whether the bytes begin with a text in lower case, ignoring their case.
    fileprivate func begins(with text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount else { return false }
        for index in 0..<text.utf8CodeUnitCount {
            let byte = self[index]
            let letter = 0x41...0x5A ~= byte ? byte | 0x20 : byte
            guard unsafe text.utf8Start[index] == letter else { return false }
        }
        return true
    }

    fileprivate func ends(with text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount else { return false }
        return extracting(droppingFirst: count - text.utf8CodeUnitCount).begins(with: text)
    }
}
