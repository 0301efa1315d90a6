internal import HTTPParser
internal import HTTPServerCore

/// Conditions of a client that knows the compressed variant of a representation by a separate tag
/// (RFC 9110 sections 8.8.3.3 and 13.1).
///
/// The variant of `"abc"` has the tag `"abc-gzip"`. The inner handler does not know that tag, so
/// its request also has the tag without the suffix.
enum VariantConditions {
    private static let mark = "-gzip\""
    /// Tags are compared by bytes: comparing a peer's text in canonical form can take quadratic
    /// time.
    private static let markBytes = Array(mark.utf8)

    /// The tag of the variant of a representation with this tag; `nil` for a weak tag, which does
    /// not promise equal bytes and stays as it is.
    static func variantTag(of tag: String) -> String? {
        guard tag.utf8.count >= 2, tag.utf8.first == UInt8(ascii: "\""), tag.hasSuffix("\"") else {
            return nil
        }
        return String(tag.dropLast()) + mark
    }

    /// The request that the inner handler gets; `nil` if that is the request itself.
    ///
    /// With Range, all tags stay as they are: a range of the representation does not continue its
    /// variant. For GET and HEAD from a client that does not accept the variant, If-None-Match
    /// stays as it is, because that client must get the representation even if a cache on the way
    /// has the variant.
    static func translated(_ request: Request, takesVariant: Bool) -> Request? {
        guard request.hasConditions else { return nil }
        // The representation that Range selects is never the variant (RFC 9110 section 14.2).
        if request.knownMethod == .get, request.fields.contains(.range) {
            return hasDatedRange(request) ? withoutRange(request) : nil
        }
        let isRead = request.knownMethod == .get || request.knownMethod == .head
        let ifMatch = isMarked(request, .ifMatch)
        let ifNoneMatch = (takesVariant || !isRead) && isMarked(request, .ifNoneMatch)
        guard ifMatch || ifNoneMatch else { return nil }
        return request.replacingHead { name, value in
            let isTranslated =
                ifMatch && name == .ifMatch || ifNoneMatch && name == .ifNoneMatch
            return isTranslated ? withPlainTags(value) : value
        }
    }

    /// Whether a range depends on a date. The variant has the same date, so the date is a weak
    /// validator (RFC 9110 sections 8.8.1 and 13.1.5).
    static func hasDatedRange(_ request: Request) -> Bool {
        guard request.knownMethod == .get, request.fields.contains(.range),
            let condition = request.fields[.ifRange]
        else { return false }
        return EntityTag(condition) == nil
    }

    private static func withoutRange(_ request: Request) -> Request {
        request.replacingHead { name, value in
            name == .range || name == .ifRange ? nil : value
        }
    }

    private static func isMarked(_ request: Request, _ name: HTTPFieldName) -> Bool {
        guard request.fields.contains(name) else { return false }
        return request.fields.values(of: name).contains {
            $0.utf8.firstRange(of: markBytes) != nil
        }
    }

    /// The list with the tag of the representation after each tag of a variant. A list that cannot
    /// be parsed stays as it is.
    private static func withPlainTags(_ list: String) -> String {
        guard case .tags(let tags) = EntityTagCondition(list) else { return list }
        var texts: [String] = []
        for tag in tags {
            texts.append(String(decoding: tag.bytes, as: UTF8.self))
            guard tag.bytes.suffix(markBytes.count).elementsEqual(markBytes) else { continue }
            let stem = tag.bytes.dropLast(markBytes.count)
            texts.append(String(decoding: stem, as: UTF8.self) + "\"")
        }
        return texts.joined(separator: ", ")
    }

    /// The tag of a 304, which names the form that the client has (section 15.4.5): the variant's
    /// tag if the client sent that tag and not the plain one. `nil` if the client sent no tag and
    /// may have either form. A weak tag stays as it is.
    static func revalidatedTag(_ tag: String, for request: Request) -> String? {
        guard let variant = variantTag(of: tag) else { return tag }
        guard let list = request.fields.list(.ifNoneMatch),
            case .tags(let tags) = EntityTagCondition(list), !tags.isEmpty
        else { return nil }
        let known = tags.map { $0.bytes.drop { $0 != 0x22 } }
        func isKnown(_ tag: String) -> Bool { known.contains { $0.elementsEqual(tag.utf8) } }
        return !isKnown(tag) && isKnown(variant) ? variant : tag
    }
}

extension Request {
    /// The same request with other field values, or itself if a new value is not valid in a head.
    /// - Parameter value: the new value of a field; `nil` leaves the field out.
    fileprivate func replacingHead(_ value: (HTTPFieldName, String) -> String?) -> Request {
        var bytes = Array("\(method.name) ".utf8)
        unsafe bytes += storage.head.targetBytes
        bytes += Array(" HTTP/1.\(version.minor)\r\n".utf8)
        // Content-Encoding is hidden from handlers, but other code still reads it: keep it.
        for field in wireFields {
            guard let new = value(field.name, field.value) else { continue }
            bytes += Array("\(field.name.text): \(new)\r\n".utf8)
        }
        bytes += [0x0D, 0x0A]
        // The original head has passed the limits. The server may have allowed these two
        // violations.
        var limits = ParserLimits.standard
        limits.startLineBytes = .max
        limits.fieldLineBytes = .max
        limits.fieldSectionBytes = .max
        limits.fieldCount = .max
        var parser = HeadParser(
            .request, limits: limits, leniency: [.missingHost, .identicalContentLengths])
        guard let length = try? parser.parse(bytes.span), length == bytes.count else {
            return self
        }
        let head = RequestHead(parser, copying: bytes.span, length: length)
        var copy = Request(Request.Storage(head: head, inPlaceOf: storage))
        copy.rewritten = rewritten
        copy.parameters = parameters
        copy.mountDepth = mountDepth
        return copy
    }
}
