internal import HTTPCodecs
package import HTTPServerCore

/// Takes gzip and deflate off the content of requests.
package struct ContentCodings: RequestDecoder {
    /// Whether it does so.
    package var isOn = true
    /// How many bytes a byte of coded content may stand for once they are more than 1 MiB.
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
