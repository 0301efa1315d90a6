/// A parameter of a field value, such as `charset=utf-8`.
///
/// RFC 9110, section 5.6.6.
public struct FieldParameter: Hashable, Sendable {
    /// The name, in lower case because names ignore case.
    public var name: String
    /// The value, without quotes and escapes.
    public var value: String

    /// Creates a parameter; the name is changed to lower case.
    ///
    /// Only a parameter whose name is a token and whose value has no control characters has a
    /// ``fieldValue``.
    public init(name: String, value: String) {
        self.name = name.lowercased()
        self.value = value
    }

    /// Whether name and value have the same bytes. `String` would also equate canonically
    /// equivalent values, which differ on the wire, in time quadratic in the length of a peer's
    /// text.
    public static func == (left: Self, right: Self) -> Bool {
        left.name.utf8.elementsEqual(right.name.utf8)
            && left.value.utf8.elementsEqual(right.value.utf8)
    }

    /// Hashes the bytes of name and value.
    public func hash(into hasher: inout Hasher) {
        for byte in name.utf8 { hasher.combine(byte) }
        hasher.combine(0xFF as UInt8)
        for byte in value.utf8 { hasher.combine(byte) }
    }

    /// The parameter as written in a field, its value quoted only where necessary.
    ///
    /// Nil if the name is not a token or the value contains a control character.
    public var fieldValue: String? {
        guard FieldValues.isToken(name) else { return nil }
        if FieldValues.isToken(value) { return "\(name)=\(value)" }
        return FieldValues.quoted(value).map { "\(name)=\($0)" }
    }
}

/// A value with parameters, such as `attachment; filename="a b.txt"`.
///
/// RFC 9110, section 5.6.6.
public struct ParameterizedValue: Hashable, Sendable {
    /// The value before the parameters: a token, or two tokens separated by a slash.
    public var value: String
    /// The parameters in order; a name may occur twice.
    public var parameters: [FieldParameter]

    /// Parses one value with its parameters.
    ///
    /// Empty parameters and white space at the end are skipped. Nil for anything malformed and for
    /// white space before the value.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        var reader = FieldValueReader(bytes.span)
        guard let value = reader.takeParameterizedValue() else { return nil }
        reader.skipWhitespace()
        guard reader.isAtEnd else { return nil }
        self = value
    }

    fileprivate init(value: String, parameters: [FieldParameter]) {
        self.value = value
        self.parameters = parameters
    }

    /// The value of the first parameter with this name, ignoring case.
    public subscript(name: String) -> String? {
        let name = name.lowercased()
        return parameters.first { $0.name == name }?.value
    }
}

/// One element of a field such as `Accept` or `Accept-Encoding`.
///
/// RFC 9110, section 12.4.2.
public struct WeightedValue: Hashable, Sendable {
    /// The requested item as written: `gzip`, `text/html`, `*`.
    public var value: String
    /// The parameters before the weight; later ones have no meaning and are dropped.
    public var parameters: [FieldParameter]
    /// The weight in thousandths, 0 (not acceptable) to 1000 (the default).
    public var weight: Int

    fileprivate init?(_ element: ParameterizedValue) {
        value = element.value
        parameters = element.parameters
        weight = 1_000
        guard let index = parameters.firstIndex(where: { $0.name == "q" }) else { return }
        guard let weight = FieldValues.parseWeight(parameters[index].value) else { return nil }
        self.weight = weight
        parameters.removeSubrange(index...)
    }
}

extension FieldValues {
    /// The elements of a list whose elements may have a weight, in order.
    ///
    /// Nil if any element or weight is malformed; then treat the field as absent. RFC 9110, section
    /// 12.4.2.
    public static func weightedList(_ text: String) -> [WeightedValue]? {
        let bytes = Array(text.utf8)
        var reader = FieldValueReader(bytes.span)
        var elements: [WeightedValue] = []
        reader.skipEmptyElements()
        while !reader.isAtEnd {
            guard let element = reader.takeParameterizedValue(), reader.takeElementEnd(),
                let weighted = WeightedValue(element)
            else { return nil }
            elements.append(weighted)
            reader.skipEmptyElements()
        }
        return elements
    }
}

extension FieldValueReader {
    /// Takes `token`, or `token/token`, and the parameters after it.
    fileprivate mutating func takeParameterizedValue() -> ParameterizedValue? {
        guard let first = takeToken() else { return nil }
        var end = first.upperBound
        if take(0x2F) {
            guard let second = takeToken() else { return nil }
            end = second.upperBound
        }
        guard let parameters = takeParameters() else { return nil }
        return ParameterizedValue(value: text(first.lowerBound..<end), parameters: parameters)
    }
}
