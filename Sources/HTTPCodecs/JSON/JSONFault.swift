/// Describes why JSON does not fit the requested type.
enum JSONFault {
    /// The path and the fault of a value, such as `the field "items[3].name" is missing` or
    /// `items[3].name: expected a string, found a number`.
    static func text(_ error: any Error) -> String {
        switch error {
        case DecodingError.typeMismatch(let type, let context):
            text(context, mismatch(type, context))
        case DecodingError.valueNotFound(let type, let context):
            text(context, mismatch(type, context))
        case DecodingError.keyNotFound(let key, let context):
            "the field \"\(path(context.codingPath + [key]))\" is missing"
        case DecodingError.dataCorrupted(let context): text(context, nil)
        default: "\(error)"
        }
    }

    private static func text(_ context: DecodingError.Context, _ mismatch: String?) -> String {
        // The input is known to be JSON; Foundation has this text for too large numbers, too.
        let isMisleading = context.debugDescription.hasPrefix("The given data was not valid JSON")
        let fault = isMisleading ? "a value does not fit its type" : context.debugDescription
        return text(at: context.codingPath, mismatch ?? fault)
    }

    /// The fault of the value at a path, which may be empty.
    static func text(at keys: [any CodingKey], _ text: String) -> String {
        keys.isEmpty ? text : path(keys) + ": " + text
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.reduce(into: "") { path, key in
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += path.isEmpty ? key.stringValue : "." + key.stringValue
            }
        }
    }

    // MARK: Kinds of values

    /// The ends of Foundation's descriptions, each with the kind of value that it stands for.
    private static let endings = [
        (" found a dictionary instead.", "an object"), (" found an array instead.", "an array"),
        (" found a string instead.", "a string"), (" found number instead.", "a number"),
        (" found bool instead.", "a boolean"), (" found null instead.", "null"),
        (" found null value instead", "null"), (" found null value instead.", "null"),
    ]

    /// The expected kind of value and the one found. Foundation's own text names Swift types.
    /// - Returns: `nil` when the error is not Foundation's: then its author has described it.
    private static func mismatch(_ type: Any.Type, _ context: DecodingError.Context) -> String? {
        let description = context.debugDescription
        // Foundation leaves the description of a mismatched `Decimal` empty.
        if description.isEmpty { return "expected \(kind(of: type))" }
        guard let ending = endings.first(where: { description.hasSuffix($0.0) }) else { return nil }
        return "expected \(kind(of: type)), found \(ending.1)"
    }

    private static func kind(of type: Any.Type) -> String {
        switch type {
        case is String.Type: return "a string"
        case is Bool.Type: return "a boolean"
        case is any Numeric.Type: return "a number"
        default:
            let name = String(describing: type)
            if name.hasPrefix("Dictionary<") { return "an object" }
            return name.hasPrefix("Array<") ? "an array" : "another value"
        }
    }
}
