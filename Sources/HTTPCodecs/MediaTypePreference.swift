public import HTTPParser

/// The preferences of an `Accept` field.
///
/// ```swift
/// let preference = MediaTypePreference("text/html, */*;q=0.5")
/// preference?.best(of: [.json, .html])  // text/html
/// ```
///
/// RFC 9110, section 12.5.1.
public struct MediaTypePreference: Sendable {
    /// The media ranges in the order of the field.
    public let ranges: [WeightedValue]

    /// Parses the value of an `Accept` field.
    ///
    /// Nil if the field is malformed or contains a value that is not a media range: treat the field
    /// as absent then.
    public init?(_ text: String) {
        guard let ranges = FieldValues.weightedList(text), ranges.allSatisfy(\.isMediaRange) else {
            return nil
        }
        self.ranges = ranges
    }

    /// The weight of a type, 0 (not acceptable) to 1000.
    ///
    /// The most specific range that covers the type decides. An empty field accepts everything.
    public func weight(of type: MediaType) -> Int {
        verdict(on: type).weight
    }

    /// The type with the highest weight; nil if none is acceptable.
    ///
    /// Among types with equal weight, the type whose range is more specific wins, then the earlier
    /// type. For `application/json, */*` the result is JSON, even if HTML is offered first.
    public func best(of types: [MediaType]) -> MediaType? {
        var best: (type: MediaType, verdict: (weight: Int, exactness: Int))?
        for type in types {
            let verdict = verdict(on: type)
            guard verdict.weight > 0, verdict > (best?.verdict ?? (0, 0)) else { continue }
            best = (type, verdict)
        }
        return best?.type
    }

    private func verdict(on type: MediaType) -> (weight: Int, exactness: Int) {
        guard !ranges.isEmpty else { return (1_000, 1) }
        var verdict = (weight: 0, exactness: 0)
        for range in ranges {
            guard let exactness = range.exactness(for: type) else { continue }
            // Of two equally exact ranges the earlier one counts.
            if exactness > verdict.exactness { verdict = (range.weight, exactness) }
        }
        return verdict
    }
}

extension WeightedValue {
    fileprivate var isMediaRange: Bool {
        let names = value.split(separator: "/", omittingEmptySubsequences: false)
        return names.count == 2 && (names[0] != "*" || names[1] == "*")
    }

    /// How specific the range is for the type: by subtype, type or `*/*`, then by the number of
    /// parameters; nil if the range does not cover the type.
    fileprivate func exactness(for type: MediaType) -> Int? {
        guard let names = exactness(forNamesOf: type), parameters.allSatisfy(type.has) else {
            return nil
        }
        return names + parameters.count
    }

    /// The exactness of a match without its parameters. The steps are larger than any number of
    /// parameters.
    private func exactness(forNamesOf type: MediaType) -> Int? {
        let value = value.lowercased()
        if value == "*/*" { return 1 }
        if value == "\(type.type)/*" { return 1 << 20 }
        return value == type.essence ? 1 << 40 : nil
    }
}

extension MediaType {
    /// Whether the type matches a parameter of a range. A charset matches a type without one:
    /// clients write `application/json; charset=utf-8` and mean JSON.
    fileprivate func has(_ parameter: FieldParameter) -> Bool {
        guard let value = self[parameter.name] else { return parameter.name == "charset" }
        return value.lowercased().hasBytes(of: parameter.value.lowercased())
    }
}
