/// The words for JSON that is not of the asked type.
enum JSONFault {
    /// Where and what, such as `the field "items[3].name" is missing` or
    /// `items[3].name: Expected to decode String but found number instead.`
    static func text(_ error: any Error) -> String {
        switch error {
        case DecodingError.typeMismatch(_, let context): text(context)
        case DecodingError.valueNotFound(_, let context): text(context)
        case DecodingError.keyNotFound(let key, let context):
            "the field \"\(path(context.codingPath + [key]))\" is missing"
        case DecodingError.dataCorrupted(let context): text(context)
        default: "\(error)"
        }
    }

    private static func text(_ context: DecodingError.Context) -> String {
        // The input is known to be JSON; Foundation says this of numbers beyond their type too.
        let isMisleading = context.debugDescription.hasPrefix("The given data was not valid JSON")
        let what = isMisleading ? "a value does not fit its type" : context.debugDescription
        return context.codingPath.isEmpty ? what : path(context.codingPath) + ": " + what
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
}
