/// Dead properties as bytes, in an extended attribute or in a file.
enum PropertyFile {
    /// What a resource may have in all; some file systems hold less.
    static let byteLimit = 1 << 20

    /// Namespace, name and element of each, every one behind its length in decimal digits and a
    /// colon.
    static func encode(_ properties: [DeadProperty]) -> [UInt8] {
        var bytes: [UInt8] = []
        for property in properties {
            for text in [property.name.namespace, property.name.local, property.xml] {
                bytes += "\(text.utf8.count):".utf8
                bytes += text.utf8
            }
        }
        return bytes
    }

    /// What can be read; nothing of what is damaged.
    static func decode(_ bytes: [UInt8]) -> [DeadProperty] {
        var rest = bytes[...]
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
