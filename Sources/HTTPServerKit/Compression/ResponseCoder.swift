internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import ToolkitSystem

/// Decides whether a response is compressed, and compresses it.
final class ResponseCoder: Sendable {
    private let options: CompressionHandler.Options
    private let types: CompressibleTypes
    let variants: CompressedVariants
    private let pool = ContentCodingPool()
    private let permits: StreamPermits
    /// In bytes. Longer content is compressed while it is sent, not in one turn of the event loop.
    private static let turnByteLimit = 64 << 10

    init(_ options: CompressionHandler.Options) {
        self.options = options
        types = CompressibleTypes(options.isCompressible)
        permits = StreamPermits(limit: options.streamLimit)
        variants = CompressedVariants(
            byteLimit: options.cacheByteLimit, entryLimit: options.cacheEntryByteLimit)
    }

    func encode(
        _ response: inout Response, for request: Request, _ accepted: AcceptedCoding
    ) {
        // The response stays uncompressed and already has Vary.
        if !accepted.isGzip, response.fields.keepVaryByEncoding { return }
        if response.status == .notModified { return revalidate(&response, request, accepted) }
        let minimum = accepted == .gzipOnly ? 1 : options.minimumBytes
        if response.status == .partialContent { return describePart(&response, minimum) }
        guard isNegotiable(response, minimum: minimum) else {
            // The content has one form only, so its date identifies it for If-Range.
            if VariantConditions.hasDatedRange(request) { response.takeDatedRange(of: request) }
            return
        }
        response.fields.addVaryByEncoding()
        guard accepted.isGzip, !request.fields.contains(.range) else { return }
        guard let content = compressed(response.body.content) else { return }
        response.body.content = content
        response.fields.describeGzip()
    }

    /// Adds the fields to a 304 that the 200 would have had (RFC 9110 section 15.4.5).
    private func revalidate(
        _ response: inout Response, _ request: Request, _ accepted: AcceptedCoding
    ) {
        guard response.fields.contains(.eTag) || response.fields.contains(.lastModified) else {
            return
        }
        response.fields.addVaryByEncoding()
        guard accepted.isGzip, let tag = response.fields[.eTag] else { return }
        let known = VariantConditions.revalidatedTag(tag, for: request)
        // The client may have either form. A wrong tag is worse than none, but a 304 needs a
        // validator.
        guard known != nil || response.fields.contains(.lastModified) else { return }
        response.fields[.eTag] = known
    }

    /// Adds Vary to a 206 if the 200 to the same request would have it (RFC 9110 section 15.3.7).
    private func describePart(_ response: inout Response, _ minimum: Int) {
        let fields = response.fields
        let facts = CodedFields(fields, ofPart: true)
        if case .pieces = response.body.content {
            // The media type is in the parts, so it is not checked. Without a validator no cache
            // combines them.
            let hasValidator = fields.contains(.eTag) || fields.contains(.lastModified)
            guard hasValidator, !facts.forbidsCompression else { return }
        } else {
            let length = Self.wholeLength(fields)
            guard allow(facts, response.body.mediaType),
                hasWorthwhileLength(response.body.content, minimum, ofPartOf: length)
            else { return }
        }
        response.fields.addVaryByEncoding()
    }

    /// The complete length in Content-Range (RFC 9110 section 14.4): `Int64.max` if it is unknown,
    /// `nil` without the field.
    private static func wholeLength(_ fields: HTTPFields) -> Int64? {
        guard let range = fields[.contentRange], let slash = range.lastIndex(of: "/") else {
            return nil
        }
        return FieldValues.parseDecimal(String(range[slash...].dropFirst())) ?? Int64.max
    }

    // MARK: Decision

    /// Whether the response would be compressed for a client that accepts gzip.
    private func isNegotiable(_ response: Response, minimum: Int) -> Bool {
        guard hasWorthwhileLength(response.body.content, minimum) else { return false }
        switch response.status {
        case .noContent, .resetContent: return false
        default: break
        }
        if let kept = response.fields.notes as? KeptCodedFields {
            return allow(kept.facts, response.body.mediaType)
        }
        return allow(CodedFields(response.fields), response.body.mediaType)
    }

    private func allow(_ facts: CodedFields, _ mediaType: String) -> Bool {
        !facts.forbidsCompression && types.contains(facts.contentType ?? mediaType)
    }

    /// - Parameter whole: the complete length if the content is a part; `nil` for whole content.
    private func hasWorthwhileLength(
        _ content: ResponseBody.Content, _ minimum: Int, ofPartOf whole: Int64? = nil
    ) -> Bool {
        switch content {
        case .empty, .pieces, .upgrade: return false
        case .text(let text): return (whole ?? Int64(text.utf8.count)) >= Int64(minimum)
        case .bytes(let bytes): return (whole ?? Int64(bytes.count)) >= Int64(minimum)
        case .file(_, _, let count):
            let length = whole ?? count
            return length >= Int64(minimum) && length <= options.fileByteLimit
        case .stream(let length, _): return (whole ?? length ?? Int64.max) >= Int64(minimum)
        }
    }

    // MARK: Compression

    /// The compressed content; `nil` if it cannot be compressed or does not get shorter.
    private func compressed(_ content: ResponseBody.Content) -> ResponseBody.Content? {
        switch content {
        case .empty, .pieces, .upgrade: return nil
        case .text(var text):
            return text.withUTF8 { bytes in
                unsafe compressed(UnsafeRawBufferPointer(bytes), array: nil)
            }
        case .bytes(let array):
            return unsafe array.withUnsafeBytes { bytes in unsafe compressed(bytes, array: array) }
        case .file(let file, let offset, let count):
            return compressed(file, offset: offset, count: count)
        case .stream(let length, let producer):
            return streamed(length: length, nil, producer)
        }
    }

    private func compressed(
        _ content: UnsafeRawBufferPointer, array: [UInt8]?
    ) -> ResponseBody.Content? {
        var keeping: VariantKeeping?
        if variants.mayKeep(Int64(content.count)) {
            switch unsafe variants.find(content) {
            case .variant(let variant): return variant.isEmpty ? nil : .bytes(variant)
            case .missing(let hash) where variants.hasSeen(hash: hash):
                let array = unsafe array ?? Array(content)
                keeping = VariantKeeping(array, hash: hash, in: variants)
            case .missing: break
            }
        }
        if content.count > Self.turnByteLimit {
            let array = unsafe array ?? Array(content)
            return streamed(length: nil, keeping) { try await $0.write(array) }
        }
        return unsafe compressed(content, keeping)
    }

    private func compressed(
        _ content: UnsafeRawBufferPointer, _ keeping: VariantKeeping?
    ) -> ResponseBody.Content? {
        // If there is no memory for the encoder, the content is sent uncompressed.
        guard var encoder = try? ContentEncoder(.gzip, level: options.level, pool: pool) else {
            return nil
        }
        var variant: [UInt8] = []
        variant.reserveCapacity(content.count / 2)
        let bytes = unsafe content.assumingMemoryBound(to: UInt8.self)
        unsafe encoder.finish(Span(_unsafeElements: bytes), into: &variant)
        if variant.count >= content.count { variant = [] }
        keeping?.keep(variant)
        return variant.isEmpty ? nil : .bytes(variant)
    }

    private func streamed(
        length: Int64?, _ keeping: VariantKeeping?, _ producer: @escaping ResponseBody.Producer
    ) -> ResponseBody.Content? {
        guard let permit = permits.take() else { return nil }
        return .stream(length: nil) { [level = options.level, pool] writer in
            defer { withExtendedLifetime(permit) {} }
            let coder = try StreamCoder(level: level, pool: pool, length: length, keeping: keeping)
            try await writer.encode(by: coder, producer)
        }
    }

    // MARK: Files

    private func compressed(
        _ file: OpenFile, offset: Int64, count: Int64
    ) -> ResponseBody.Content? {
        var keeping: VariantKeeping?
        if let identity = identity(of: file, offset: offset, count: count) {
            if let variant = variants.find(identity) {
                return variant.isEmpty ? nil : .bytes(variant)
            }
            keeping = VariantKeeping(file, identity, in: variants)
        }
        guard count <= Int64(Self.turnByteLimit) else {
            return streamed(length: count, keeping) { writer in
                var position = offset
                while position < offset + count {
                    let part = min(offset + count - position, Int64(StreamCoder.turnBytes))
                    let piece = try file.content(at: position, count: Int(part))
                    // The file is shorter than announced: fail, so that the client does not take
                    // truncated content for complete.
                    guard !piece.isEmpty else { throw ResponseWriterError.wrongLength }
                    position += Int64(piece.count)
                    try await writer.write(piece)
                }
            }
        }
        // A file that cannot be read is sent uncompressed, and sending it reports the error.
        guard let content = try? file.content(at: offset, count: Int(count)),
            content.count == Int(count)
        else { return nil }
        return unsafe content.withUnsafeBytes { unsafe compressed($0, keeping) }
    }

    /// The identity of a file that is sent whole and may be cached; `nil` for other files. A file
    /// changed in the last second is not cached: clocks of file systems tick only some hundred
    /// times a second, so another change may leave the times the same.
    private func identity(of file: OpenFile, offset: Int64, count: Int64) -> FileIdentity? {
        guard offset == 0, variants.mayKeep(count),
            let status = RootDirectory.status(of: file.descriptor), status.size == count
        else { return nil }
        let changed = max(status.modifiedSeconds, status.changedSeconds)
        return changed < Syscalls.realtime().seconds - 1 ? FileIdentity(status) : nil
    }
}
