public import HTTPParser

/// The type of content, such as `text/html; charset=utf-8`.
///
/// Type, subtype and parameter names are kept in lower case. Two media types are equal when they
/// mean the same: the order of parameters and the case of a `charset` do not matter.
///
/// ```swift
/// let type = MediaType("Text/HTML; Charset=\"UTF-8\"")
/// type?.essence        // "text/html"
/// type?["charset"]     // "UTF-8"
/// ```
///
/// RFC 9110, section 8.3.1.
public struct MediaType: Sendable {
    /// The part before the slash, in lower case.
    public let type: String
    /// The part after the slash, in lower case.
    public let subtype: String
    /// The parameters in their order, each name once.
    public let parameters: [FieldParameter]

    /// Parses a media type.
    ///
    /// Nil if the text is malformed or has a parameter with two different values: if readers choose
    /// different ones, filters can be bypassed. Leading white space is not allowed.
    public init?(_ text: String) {
        guard let value = ParameterizedValue(text) else { return nil }
        let names = value.value.split(separator: "/", omittingEmptySubsequences: false)
        guard names.count == 2 else { return nil }
        self.init(String(names[0]), String(names[1]), parameters: value.parameters)
    }

    /// Makes a media type from its parts.
    ///
    /// Nil if type or subtype is not a token, if a parameter cannot be printed, or if a parameter
    /// has two different values.
    public init?(_ type: String, _ subtype: String, parameters: [FieldParameter] = []) {
        guard FieldValues.isToken(type), FieldValues.isToken(subtype) else { return nil }
        var kept: [FieldParameter] = []
        var values: [String: String] = [:]
        for parameter in parameters {
            guard parameter.fieldValue != nil else { return nil }
            let known = values.updateValue(parameter.value, forKey: parameter.name)
            guard known.map({ $0.hasBytes(of: parameter.value) }) ?? true else { return nil }
            if known == nil { kept.append(parameter) }
        }
        self.init(known: type.lowercased(), subtype.lowercased(), kept)
    }

    private init(known type: String, _ subtype: String, _ parameters: [FieldParameter] = []) {
        self.type = type
        self.subtype = subtype
        self.parameters = parameters
    }

    /// Type and subtype without parameters, such as `text/html`.
    public var essence: String {
        // Avoids an allocation for the type of nearly all responses of many servers.
        type == "application" && subtype == "json" ? "application/json" : "\(type)/\(subtype)"
    }

    /// The structured suffix after the last `+` of the subtype, such as `json` in
    /// `application/ld+json`; nil without one.
    ///
    /// RFC 6838, section 4.2.8.
    public var structuredSuffix: String? {
        guard let plus = subtype.utf8.lastIndex(of: UInt8(ascii: "+")) else { return nil }
        return String(subtype[subtype.utf8.index(after: plus)...])
    }

    /// Whether content of this type is JSON: `application/json`, `text/json` and all `+json`.
    public var isJSON: Bool {
        essence == "application/json" || essence == "text/json" || structuredSuffix == "json"
    }

    /// Whether content of this type is XML: `application/xml`, `text/xml` and all `+xml`.
    ///
    /// RFC 7303, section 4.2.
    public var isXML: Bool {
        essence == "application/xml" || essence == "text/xml" || structuredSuffix == "xml"
    }

    /// The value of a parameter, whose name is compared without regard to case.
    public subscript(name: String) -> String? {
        let name = name.lowercased()
        return parameters.first { $0.name == name }?.value
    }

    /// The same type with another `charset`, or without one.
    ///
    /// A value with a control character is ignored: the type is returned unchanged.
    public func with(charset: String?) -> MediaType {
        var parameters = parameters.filter { $0.name != "charset" }
        if let charset { parameters.append(FieldParameter(name: "charset", value: charset)) }
        return MediaType(type, subtype, parameters: parameters) ?? self
    }
}

extension MediaType: Hashable {
    /// Whether both mean the same.
    public static func == (left: MediaType, right: MediaType) -> Bool {
        left.type == right.type && left.subtype == right.subtype
            && left.comparableParameters == right.comparableParameters
    }

    /// Hashes the values that ``==(_:_:)`` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(type)
        hasher.combine(subtype)
        hasher.combine(comparableParameters)
    }

    private var comparableParameters: Set<FieldParameter> {
        Set(
            parameters.map { parameter in
                guard parameter.name == "charset" else { return parameter }
                return FieldParameter(name: "charset", value: parameter.value.lowercased())
            })
    }
}

extension MediaType: CustomStringConvertible {
    /// The media type as a field value.
    public var description: String {
        guard !parameters.isEmpty else { return essence }
        return ([essence] + parameters.compactMap(\.fieldValue)).joined(separator: "; ")
    }
}

extension MediaType {
    /// `application/octet-stream`: the type of unknown content.
    public static let octetStream = MediaType(known: "application", "octet-stream")
    /// `text/plain`, with `charset=utf-8`.
    public static let plainText = MediaType(known: "text", "plain", utf8)
    /// `text/html`, with `charset=utf-8`.
    public static let html = MediaType(known: "text", "html", utf8)
    /// `application/json`, which is UTF-8 by definition.
    public static let json = MediaType(known: "application", "json")
    /// `application/xml`, whose content declares its charset.
    public static let xml = MediaType(known: "application", "xml")
    /// `text/css`, with `charset=utf-8`.
    public static let css = MediaType(known: "text", "css", utf8)
    /// `text/javascript`, with `charset=utf-8`.
    public static let javaScript = MediaType(known: "text", "javascript", utf8)
    /// `text/event-stream`, which is UTF-8 by definition.
    public static let eventStream = MediaType(known: "text", "event-stream")
    /// `image/svg+xml`.
    public static let svg = MediaType(known: "image", "svg+xml")
    /// `application/x-www-form-urlencoded`, the fields of a form.
    public static let urlEncodedForm = MediaType(known: "application", "x-www-form-urlencoded")

    private static let utf8 = [FieldParameter(name: "charset", value: "utf-8")]
}
