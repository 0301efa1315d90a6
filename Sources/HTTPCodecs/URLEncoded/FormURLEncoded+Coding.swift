internal import HTTPParser

extension FormURLEncoded {
    /// Reads a whole form.
    ///
    /// Throws the errors of ``FormURLEncodedParser``.
    public init(
        _ encoded: Span<UInt8>, options: Options = .standard
    ) throws(CodecError) {
        var parser = FormURLEncodedParser(options: options)
        try parser.append(encoded)
        self = try parser.finish()
    }

    /// Reads a whole form.
    ///
    /// Throws the errors of ``FormURLEncodedParser``.
    public init(_ encoded: String, options: Options = .standard) throws(CodecError) {
        let bytes = Array(encoded.utf8)
        try self.init(bytes.span, options: options)
    }

    /// Reads the query of a target, the part after `?`; without one the form is empty.
    ///
    /// Throws the errors of ``FormURLEncodedParser``.
    public init(query: String?, options: Options = .standard) throws(CodecError) {
        try self.init(query ?? "", options: options)
    }

    /// Appends the encoded form, which is ASCII, to the output.
    ///
    /// Bytes that are not UTF-8 are preserved.
    public func encode(into output: inout [UInt8]) {
        output.reserveCapacity(output.count + bytes.count + 2 * extents.count)
        for position in indices {
            if position > 0 { output.append(UInt8(ascii: "&")) }
            Self.encode(nameBytes(at: position), into: &output)
            output.append(UInt8(ascii: "="))
            Self.encode(valueBytes(at: position), into: &output)
        }
    }

    private static func encode(_ bytes: ArraySlice<UInt8>, into output: inout [UInt8]) {
        for byte in bytes {
            if byte == UInt8(ascii: " ") {
                output.append(UInt8(ascii: "+"))
            } else {
                PercentEncoding.append(byte, keeping: .form, to: &output)
            }
        }
    }

    /// The encoded form, to be sent as content.
    public var encoded: [UInt8] {
        var output: [UInt8] = []
        encode(into: &output)
        return output
    }
}

extension FormURLEncoded: CustomStringConvertible {
    /// The encoded form, to be used as the query of a target.
    public var description: String { String(decoding: encoded, as: UTF8.self) }
}
