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
    /// Nil if it is malformed or names something that is no media range; the field is best treated
    /// as absent then.
    public init?(_ text: String) {
        guard let ranges = FieldValues.weightedList(text), ranges.allSatisfy(\.isMediaRange) else {
            return nil
        }
        self.ranges = ranges
    }

    /// How welcome a type is, 0 (not acceptable) to 1000.
    ///
    /// The most specific range that covers the type decides. An empty field accepts everything.
    public func weight(of type: MediaType) -> Int {
        verdict(on: type).weight
    }

    /// The most welcome of several types; nil if none is acceptable.
    ///
    /// Of types with equal weight the one that is named more exactly wins, then the earlier one.
    /// Hence `application/json, */*` asks for JSON where HTML is offered first.
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

    /// How exactly the range names the type: subtype before type before `*/*`, then the number of
    /// parameters; nil if the range does not cover the type.
    fileprivate func exactness(for type: MediaType) -> Int? {
        guard let names = exactness(forNamesOf: type), parameters.allSatisfy(type.has) else {
            return nil
        }
        return names + parameters.count
    }

    /// The exactness of a match without its parameters, in steps so large that no number of
    /// parameters makes up for one.
    private func exactness(forNamesOf type: MediaType) -> Int? {
        let value = value.lowercased()
        if value == "*/*" { return 1 }
        if value == "\(type.type)/*" { return 1 << 20 }
        return value == type.essence ? 1 << 40 : nil
    }
}

extension MediaType {
    /// Whether a parameter of a range fits. A charset fits a type without one: clients write
    /// `application/json; charset=utf-8` and mean JSON.
    fileprivate func has(_ parameter: FieldParameter) -> Bool {
        guard let value = self[parameter.name] else { return parameter.name == "charset" }
        return value.lowercased().hasBytes(of: parameter.value.lowercased())
    }
}
