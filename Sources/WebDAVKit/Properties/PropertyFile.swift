/// Dead properties as bytes, in an extended attribute or in a file.
enum PropertyFile {
    /// The most bytes of all properties of a resource.
    static let byteLimit = 1 << 20

    /// Encodes namespace, name and element of each property. Each text is preceded by its length in
    /// bytes and a colon.
    /// - Parameter kept: the description of the content, written first, under a name that no
    ///   element can have.
    static func encode(
        _ properties: [DeadProperty], _ kept: KeptDescription? = nil
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        if let kept { append(["", keptName, kept.encoded], to: &bytes) }
        for property in properties {
            append([property.name.namespace, property.name.local, property.xml], to: &bytes)
        }
        return bytes
    }

    private static let keptName = "=content"
    private static let keptStart = Array("0:8:=content".utf8)

    private static func append(_ texts: [String], to bytes: inout [UInt8]) {
        for text in texts {
            bytes += "\(text.utf8.count):".utf8
            bytes += text.utf8
        }
    }

    /// The description of the content, followed by the properties.
    static func split(_ bytes: [UInt8]) -> (kept: KeptDescription?, rest: ArraySlice<UInt8>) {
        guard bytes.starts(with: keptStart) else { return (nil, bytes[...]) }
        var rest = bytes[keptStart.count...]
        guard let encoded = text(&rest) else { return (nil, []) }
        return (KeptDescription(encoded: encoded), rest)
    }

    /// The properties up to the first damaged one.
    static func decode(_ bytes: [UInt8]) -> [DeadProperty] {
        var rest = split(bytes).rest
        var properties: [DeadProperty] = []
        while !rest.isEmpty {
            guard let namespace = text(&rest), let local = text(&rest), let xml = text(&rest) else {
                break
            }
            properties.append(DeadProperty(XMLName(local, in: namespace), xml: xml))
        }
        return properties
    }

    private static func text(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard let colon = rest.prefix(12).firstIndex(of: 0x3A),
            let count = Int(String(decoding: rest[..<colon], as: UTF8.self)), count >= 0,
            count <= rest.endIndex - colon - 1
        else { return nil }
        let end = colon + 1 + count
        defer { rest = rest[end...] }
        return String(validating: rest[(colon + 1)..<end], as: UTF8.self)
    }
}
