import HTTPCodecs
import HTTPParser
import HTTPServerCore

/// A JSON value in httpbin's format: sorted names, two spaces for each level, only ASCII.
enum JSONValue: Equatable, Sendable {
    case null
    case flag(Bool)
    case integer(Int)
    case real(Double)
    case text(String)
    case list([JSONValue])
    case object([JSONName: JSONValue])

    /// The JSON text on several lines, with a line feed at the end.
    var bytes: [UInt8] {
        var buffer = ByteBuffer(capacity: 1024)
        write(into: &buffer, indent: 0)
        buffer.append(literal: "\n")
        return Array(buffer)
    }

    /// A response with the value.
    func response(_ status: HTTPStatus = .ok, fields: HTTPFields = HTTPFields()) -> Response {
        Response(status, fields: fields, body: .bytes(bytes, mediaType: "application/json"))
    }

    /// The JSON text on one line, which streams of values need, with a line feed at the end.
    var line: [UInt8] {
        var buffer = ByteBuffer(capacity: 1024)
        write(into: &buffer, indent: nil)
        buffer.append(literal: "\n")
        return Array(buffer)
    }

    /// - Parameter indent: the number of spaces before the value's lines; `nil` for a single line.
    private func write(into buffer: inout ByteBuffer, indent: Int?) {
        switch self {
        case .null: buffer.append(literal: "null")
        case .flag(let flag): buffer.append(json: flag)
        case .integer(let number): buffer.append(decimal: Int64(number))
        case .real(let number): buffer.append(number.description)
        case .text(let text): buffer.append(json: text)
        case .list(let elements):
            Self.write(elements, "[", "]", into: &buffer, indent: indent) {
                buffer, element, inner in
                element.write(into: &buffer, indent: inner)
            }
        case .object(let members):
            let sorted = members.sorted { $0.key < $1.key }
            Self.write(sorted, "{", "}", into: &buffer, indent: indent) { buffer, member, inner in
                buffer.append(json: member.key.text)
                buffer.append(literal: ": ")
                member.value.write(into: &buffer, indent: inner)
            }
        }
    }

    private static func write<Element>(
        _ elements: [Element], _ open: StaticString, _ close: StaticString,
        into buffer: inout ByteBuffer, indent: Int?,
        _ writeElement: (inout ByteBuffer, Element, Int?) -> Void
    ) {
        buffer.append(literal: open)
        let inner = indent.map { $0 + 2 }
        for (index, element) in elements.enumerated() {
            if index > 0 { buffer.append(inner == nil ? ", " : ",") }
            breakLine(inner, into: &buffer)
            writeElement(&buffer, element, inner)
        }
        if !elements.isEmpty { breakLine(indent, into: &buffer) }
        buffer.append(literal: close)
    }

    private static func breakLine(_ indent: Int?, into buffer: inout ByteBuffer) {
        guard let indent else { return }
        buffer.append(literal: "\n")
        for _ in 0..<indent { buffer.append(UInt8(ascii: " ")) }
    }
}

/// The name of a member, hashed and compared byte by byte. `String` compares canonical forms, which
/// takes quadratic time for a name of combining marks.
struct JSONName: Hashable, Comparable, Sendable, ExpressibleByStringLiteral {
    var text: String

    init(_ text: String) {
        self.text = text
    }

    init(stringLiteral text: String) {
        self.text = text
    }

    static func == (left: Self, right: Self) -> Bool { left.text.hasBytes(of: right.text) }

    static func < (left: Self, right: Self) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(text.utf8.count)
    }
}

extension JSONValue: Decodable {
    private struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        if let members = try? decoder.container(keyedBy: Name.self) {
            var object: [JSONName: JSONValue] = [:]
            for name in members.allKeys {
                object[JSONName(name.stringValue)] = try members.decode(
                    JSONValue.self, forKey: name)
            }
            self = .object(object)
        } else if var elements = try? decoder.unkeyedContainer() {
            var list: [JSONValue] = []
            while !elements.isAtEnd { list.append(try elements.decode(JSONValue.self)) }
            self = .list(list)
        } else {
            self = try Self.scalar(decoder.singleValueContainer())
        }
    }

    private static func scalar(_ container: any SingleValueDecodingContainer) throws -> JSONValue {
        if container.decodeNil() { return .null }
        if let flag = try? container.decode(Bool.self) { return .flag(flag) }
        if let number = try? container.decode(Int.self) { return .integer(number) }
        if let number = try? container.decode(Double.self) { return .real(number) }
        return .text(try container.decode(String.self))
    }

    /// Parses JSON text; `nil` if the text is invalid or too long.
    init?(parsing bytes: [UInt8]) {
        var json = JSONBody()
        json.byteLimit = BinRouter.contentLimit
        guard let value = try? json.decode(JSONValue.self, from: bytes) else { return nil }
        self = value
    }
}

extension JSONValue {
    /// The names and values of a query or form: a text for a name that appears once, otherwise a
    /// list.
    init(_ pairs: FormURLEncoded) {
        self.init(grouping: pairs.map { (JSONName($0.name), .text($0.value)) })
    }

    /// Values by name: the value itself for a name that appears once, otherwise a list.
    init(grouping pairs: [(JSONName, JSONValue)]) {
        let groups = Dictionary(grouping: pairs, by: \.0)
        self = .object(
            groups.mapValues { group in
                group.count == 1 ? group[0].1 : .list(group.map(\.1))
            })
    }
}

extension Array<UInt8> {
    /// Copies the unread bytes of a buffer.
    init(_ buffer: borrowing ByteBuffer) {
        let bytes = buffer.bytes
        self = unsafe Array(unsafeUninitializedCapacity: bytes.count) { room, count in
            for index in bytes.indices { unsafe room[index] = bytes[index] }
            count = bytes.count
        }
    }
}
