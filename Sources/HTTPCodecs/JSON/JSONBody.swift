internal import HTTPParser

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Decodes and encodes `Codable` values as JSON, with limits on the input.
///
/// ```swift
/// struct Note: Codable { var text: String }
/// let json = JSONBody()
/// let note = try json.decode(Note.self, from: Array(#"{"text": "hello"}"#.utf8))
/// let bytes = try json.encode(note)    // {"text":"hello"}
/// ```
///
/// Input is checked against the limits and the grammar before a `Decodable` value is decoded. Input
/// that is not JSON is `.invalidJSON` (400) at the first invalid byte; JSON that does not fit
/// `Value` is `.unexpectedJSON` (422) with the path of the wrong value. Of members with the same
/// name the first counts, as in Foundation.
///
/// Values of the usual kinds are decoded and encoded without Foundation. If that fails, Foundation
/// repeats the work, and its error is thrown: a value's `init(from:)` or `encode(to:)` may run
/// twice.
///
/// A `JSONReadable` type reads itself, which is several times as fast. The content is checked at
/// the same time, with the same limits and errors. Errors have no path in content that is longer
/// than 64 KiB or has names beyond ASCII.
///
/// RFC 8259.
public struct JSONBody: Hashable, Sendable {
    /// The highest effective value of `depthLimit`.
    public static let greatestDepth = 512

    /// The most bytes of input; above it `.inputTooLong` (413).
    public var byteLimit: Int
    /// The deepest nesting of arrays and objects, at most ``greatestDepth``; above it
    /// `.nestedTooDeeply` (400).
    public var depthLimit = 128
    /// The longest name of a member, in bytes as written; above it `.inputTooLong` (413). Names are
    /// hashed and compared in canonical form, which takes quadratic time in a run of combining
    /// marks. For the same reason a string of more than 1 KiB may have at most 128 of them in a row
    /// (413).
    public var nameByteLimit = 1_024
    /// The format of dates and names, and the layout of output.
    public var options = JSONOptions()

    /// The defaults: 2 MiB, 128 deep, names of 1 KiB.
    /// - Parameter byteLimit: the most bytes of input.
    public init(byteLimit: Int = 2 << 20) {
        self.byteLimit = byteLimit
    }

    // MARK: Media types

    /// Checks that content of this type is JSON.
    ///
    /// Accepts `application/json`, `text/json` and all types with `+json`, if the `charset` is
    /// UTF-8 or absent (RFC 8259 section 8.1).
    /// - Throws: `.unsupportedMediaType`, also without a type, or `.unsupportedCharset`.
    public func check(mediaType: MediaType?) throws(CodecError) {
        let isJSON =
            switch mediaType?.essence {
            case "application/json", "text/json": true
            default: mediaType?.subtype.hasSuffix("+json") == true
            }
        guard isJSON else { throw .unsupported(mediaType, wanted: "application/json") }
        try Self.check(charsetOf: mediaType)
    }

    static func check(charsetOf mediaType: MediaType?) throws(CodecError) {
        guard let charset = mediaType?["charset"], !charset.isASCII("utf-8") else { return }
        throw CodecError(.unsupportedCharset, "JSON must be UTF-8")
    }

    // MARK: Values

    /// Reads a value.
    ///
    /// A byte order mark before it is skipped (RFC 8259 section 8.1). An error that `Value` itself
    /// throws becomes `.unexpectedJSON`; a `CodecError` is passed on unchanged.
    /// - Throws: `.inputTooLong`, `.invalidText`, `.invalidJSON`, `.nestedTooDeeply` or
    ///   `.unexpectedJSON`.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, from bytes: [UInt8]
    ) throws(CodecError) -> Value {
        try decode(type, readBy: readable(type), from: bytes)
    }

    /// Reads a value of a type that ``readable(_:)`` has examined, with the same limits and errors.
    /// - Parameter readable: the result of ``readable(_:)`` for `type`.
    package func decode<Value: Decodable>(
        _ type: Value.Type, readBy readable: (any JSONReadable.Type)?, from bytes: [UInt8]
    ) throws(CodecError) -> Value {
        let start = try start(of: bytes.span)
        if let readable { return try read(readable, bytes.span, from: start) }
        return try decodeTree(type, bytes, from: start)
    }

    // Not inlined: otherwise its generic types would be looked up even for values that read
    // themselves.
    @inline(never)
    private func decodeTree<Value: Decodable>(
        _ type: Value.Type, _ bytes: [UInt8], from start: Int
    ) throws(CodecError) -> Value {
        let nodes = try check(bytes.span, from: start, listing: options.readsPlainly)
        if !nodes.isEmpty {
            let tree = JSONTree(bytes, nodes)
            do {
                let value = try JSONTreeDecoder(tree).value(type)
                if !tree.needsFoundation { return value }
            } catch {
                // Foundation fails as well, and its error is thrown.
            }
        }
        return try decode(type, checked: bytes.span, from: start)
    }

    /// Reads a value from a span, with the same limits and errors.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, from bytes: Span<UInt8>
    ) throws(CodecError) -> Value {
        let start = try start(of: bytes)
        if let readable = readable(type) { return try read(readable, bytes, from: start) }
        _ = try check(bytes, from: start, listing: false)
        return try decode(type, checked: bytes, from: start)
    }

    /// The type if it is `JSONReadable` and the options allow its values to read themselves;
    /// otherwise nil.
    package func readable(_ type: any Decodable.Type) -> (any JSONReadable.Type)? {
        options.readsPlainly ? type as? any JSONReadable.Type : nil
    }

    /// Lets a value read itself.
    /// - Parameter type: the same type as `Value`, or a subclass.
    private func read<Value: Decodable, Readable: JSONReadable>(
        _ type: Readable.Type, _ bytes: Span<UInt8>, from start: Int
    ) throws(CodecError) -> Value {
        let grammar = JSONGrammar(
            from: start, depthLimit: min(depthLimit, Self.greatestDepth),
            nameByteLimit: nameByteLimit)
        var reader = JSONReader(bytes, grammar)
        do {
            let value = try Readable(reading: &reader)
            try reader.finish()
            // Faster than a cast, which would look up both types.
            if Readable.self == Value.self { return unsafe unsafeBitCast(value, to: Value.self) }
            return Self.cast(value)
        } catch {
            // If the content is not JSON, throw that error instead.
            let nodes = try check(bytes, from: start, listing: true)
            guard let error = error as? CodecError else {
                throw CodecError(.unexpectedJSON, JSONFault.text(error))
            }
            // A type that reads too little or too much causes `.invalidJSON` in valid JSON.
            guard error.kind == .unexpectedJSON || error.kind == .invalidJSON else { throw error }
            var copy: [UInt8] = []
            copy.append(copying: bytes)
            let path = JSONTree(copy, nodes).path(toValueAt: Int(error.offset))
            throw CodecError(
                .unexpectedJSON, at: error.offset, JSONFault.text(at: path, error.detail))
        }
    }

    @inline(never)
    private static func cast<Value>(_ value: some JSONReadable) -> Value {
        guard let value = value as? Value else { preconditionFailure("not a `Value`") }
        return value
    }

    /// The index at which the value begins, after a byte order mark. Throws for content that is too
    /// long.
    private func start(of bytes: Span<UInt8>) throws(CodecError) -> Int {
        guard bytes.count <= byteLimit else {
            throw CodecError(.inputTooLong, at: Int64(max(byteLimit, 0)), "JSON")
        }
        return Self.startBehindByteOrderMark(bytes)
    }

    /// Checks the grammar and the limits.
    /// - Returns: the values, if `listing` is true and the content is of the usual kind.
    private func check(
        _ bytes: Span<UInt8>, from start: Int, listing: Bool
    ) throws(CodecError) -> [JSONTree.Node] {
        let depth = min(depthLimit, Self.greatestDepth)
        return try JSONGrammar.check(
            bytes, from: start, depthLimit: depth, nameByteLimit: nameByteLimit, lists: listing)
    }

    private func decode<Value: Decodable>(
        _ type: Value.Type, checked bytes: Span<UInt8>, from start: Int
    ) throws(CodecError) -> Value {
        let data = unsafe bytes.extracting(start...).withUnsafeBytes { unsafe Data($0) }
        do {
            return try options.decoder.decode(type, from: data)
        } catch let error as CodecError {
            throw error
        } catch {
            throw CodecError(.unexpectedJSON, JSONFault.text(error))
        }
    }

    /// Content up to this length in bytes is decoded on the calling thread: that takes at most a
    /// few milliseconds.
    package static let quickBytes = 8 << 10

    /// Reads a value with the same limits and errors. Content longer than ``quickBytes`` is decoded
    /// by `lender`.
    /// - Throws: `CodecError`, and the errors of the lender.
    package func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, from bytes: [UInt8], by lender: HandedWork.Lender?
    ) async throws -> Value {
        guard let lender, bytes.count > Self.quickBytes else {
            return try decode(type, from: bytes)
        }
        var result: Result<Value, CodecError>?
        let work = HandedWork {
            result = Result { () throws(CodecError) in try self.decode(type, from: bytes) }
        }
        try await lender(work)
        guard let result else { preconditionFailure("handed work was not done") }
        return try result.get()
    }

    private static func startBehindByteOrderMark(_ bytes: Span<UInt8>) -> Int {
        let hasMark = bytes.count >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF
        return hasMark ? 3 : 0
    }

    /// Writes a value, without a byte order mark.
    /// - Throws: `EncodingError` for a value that JSON cannot represent, such as an infinite
    ///   number, and errors of `value` itself.
    public func encode(_ value: some Encodable) throws -> [UInt8] {
        if options.writesPlainly, let bytes = JSONTextEncoder.bytes(of: value) { return bytes }
        return [UInt8](try options.encoder.encode(value))
    }

    /// Lets a value write itself, without a byte order mark.
    /// - Throws: `EncodingError` for an infinite number, and for a value that writes invalid JSON;
    ///   errors of `encode(to:)` if the options require it.
    public func encode(_ value: some JSONWritable) throws -> [UInt8] {
        guard options.writesPlainly else { return [UInt8](try options.encoder.encode(value)) }
        var writer = JSONWriter()
        value.write(to: &writer)
        writer.finish()
        guard let problem = writer.problem else { return writer.bytes }
        throw EncodingError.invalidValue(
            value, EncodingError.Context(codingPath: [], debugDescription: problem))
    }
}

extension CodecError {
    static func unsupported(_ mediaType: MediaType?, wanted: String) -> CodecError {
        let got = mediaType?.essence ?? "none"
        return CodecError(.unsupportedMediaType, "expected \(wanted), got \(got)")
    }
}
