internal import HTTPCodecs
package import HTTPServerCore

/// Decodes request content that is coded with gzip or deflate.
package struct ContentCodings: RequestDecoder {
    /// Whether content is decoded.
    package var isOn = true
    /// The highest ratio of decoded to coded bytes, once the decoded bytes exceed 1 MiB.
    package var expansionLimit: Int64 = 100
    private let pool = ContentCodingPool()

    package init() {}

    package func decoding(_ codings: String, byteLimit: Int64) -> (any ContentDecoding)? {
        guard isOn else { return nil }
        let limits = ContentDecodingLimits(
            outputBytes: max(byteLimit, 0), ratio: max(expansionLimit, 1))
        return BodyDecoding(codings, limits: limits, pool: pool)
    }
}
