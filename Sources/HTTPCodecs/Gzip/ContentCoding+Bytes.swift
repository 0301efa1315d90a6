internal import HTTPParser

extension ContentCoding {
    /// Compresses complete content.
    /// - Throws: `.outOfMemory`.
    public func encode(
        _ bytes: Span<UInt8>, level: Int = 6, pool: ContentCodingPool? = nil
    ) throws(CodecError) -> [UInt8] {
        var encoder = try ContentEncoder(self, level: level, pool: pool)
        var output: [UInt8] = []
        encoder.finish(bytes, into: &output)
        return output
    }

    /// Decompresses complete content.
    /// - Throws: the errors of ``ContentDecoder``.
    public func decode(
        _ bytes: Span<UInt8>, limits: ContentDecodingLimits, pool: ContentCodingPool? = nil
    ) throws(CodecError) -> [UInt8] {
        var decoder = try ContentDecoder(self, limits: limits, pool: pool)
        var output: [UInt8] = []
        try decoder.decode(bytes, into: &output)
        try decoder.finish(into: &output)
        return output
    }
}

extension [UInt8] {
    /// Compresses the bytes to the gzip format.
    /// - Throws: `.outOfMemory`.
    public func gzipped(level: Int = 6) throws(CodecError) -> [UInt8] {
        try ContentCoding.gzip.encode(span, level: level)
    }

    /// Decodes bytes in the gzip format.
    /// - Parameter outputLimit: the most bytes of content.
    /// - Throws: the errors of ``ContentDecoder``.
    public func gunzipped(outputLimit: Int64) throws(CodecError) -> [UInt8] {
        let limits = ContentDecodingLimits(outputBytes: outputLimit)
        return try ContentCoding.gzip.decode(span, limits: limits)
    }
}
