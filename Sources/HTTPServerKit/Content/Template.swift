public import ToolkitSystem

/// A page, or any text, with placeholders: `%name%` becomes the value of `name`.
///
/// ```swift
/// let page = Template("<h1>Hello, %name%!</h1> 100% free")
/// page.filled(["name": "<Ada>"])    // <h1>Hello, &lt;Ada&gt;!</h1> 100% free
/// ```
///
/// A name consists of ASCII letters, digits, `_`, `-` and `.`. A placeholder without a value stays
/// as it is, so a percent sign needs no escape. Placeholders in values are not filled in.
public struct Template: Sendable {
    /// The value of a placeholder.
    public enum Value: Hashable, Sendable {
        /// Text of any origin. Characters with a meaning in HTML are escaped, so the text is safe
        /// between tags and in quoted attribute values. It is not safe inside of scripts, styles
        /// and unquoted attributes.
        case text(String)
        /// Markup from the program, inserted unchanged. It must not contain data from clients.
        case markup(String)
    }

    private let bytes: [UInt8]

    /// Creates a template.
    public init(_ text: String) {
        bytes = Array(text.utf8)
    }

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Creates a template from a file in UTF-8, which is read once. This blocks: call it when the
    /// program starts.
    public init(path: String) throws(SystemError) {
        bytes = try Syscalls.readFile(path)
    }

    /// The text with its placeholders filled in.
    public func filled(_ values: [String: Value]) -> String {
        let percent = UInt8(ascii: "%")
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var position = 0
        while let start = bytes[position...].firstIndex(of: percent) {
            output += bytes[position..<start]
            position = start + 1
            let end = bytes[position...].firstIndex { !Self.isNameByte($0) } ?? bytes.count
            if end > position, end < bytes.count, bytes[end] == percent,
                let value = values[String(decoding: bytes[position..<end], as: UTF8.self)]
            {
                output += value.bytes
                position = end + 1
            } else {
                output.append(percent)
            }
        }
        output += bytes[position...]
        return String(decoding: output, as: UTF8.self)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"),
            UInt8(ascii: "."):
            true
        default: false
        }
    }
}

extension Template.Value: ExpressibleByStringInterpolation {
    /// A literal is `.text`.
    public init(stringLiteral text: String) {
        self = .text(text)
    }

    fileprivate var bytes: String.UTF8View {
        switch self {
        case .text(let text): HTMLEscaping.attribute(text).utf8
        case .markup(let markup): markup.utf8
        }
    }
}
