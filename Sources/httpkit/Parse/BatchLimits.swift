import HTTPParser

/// The limits that a case may set, named as in the input; missing limits keep their defaults.
struct BatchLimits: Decodable, Equatable, Sendable {
    var maxFields: Int?
    var maxHeadBytes: Int?
    var maxContentBytes: Int64?
    var maxTargetBytes: Int?
    var maxTrailerBytes: Int?
    var maxChunkLineBytes: Int?

    var hasNegative: Bool {
        let limits = [maxFields, maxHeadBytes, maxTargetBytes, maxTrailerBytes, maxChunkLineBytes]
        return limits.contains { ($0 ?? 0) < 0 } || (maxContentBytes ?? 0) < 0
    }

    /// The limits that are checked outside of the parser.
    var budget: HeadBudget { HeadBudget(headBytes: maxHeadBytes, targetBytes: maxTargetBytes) }

    /// The limits of the parser. A limit on a whole head replaces the limits on its parts. A limit
    /// on targets is added to the limit on start lines, so that the rest of the line may be as long
    /// as before.
    var parserLimits: ParserLimits {
        var limits = ParserLimits.standard
        if let maxTargetBytes {
            let (sum, overflow) = maxTargetBytes.addingReportingOverflow(limits.startLineBytes)
            limits.startLineBytes = overflow ? .max : sum
        }
        if let maxHeadBytes {
            limits.startLineBytes = maxHeadBytes
            limits.fieldLineBytes = maxHeadBytes
            limits.fieldSectionBytes = maxHeadBytes
        }
        limits.fieldCount = maxFields ?? limits.fieldCount
        limits.contentBytes = maxContentBytes ?? limits.contentBytes
        limits.trailerBytes = maxTrailerBytes ?? limits.trailerBytes
        limits.chunkExtensionBytes = maxChunkLineBytes ?? limits.chunkExtensionBytes
        return limits
    }
}
