internal import HTTPParser

// The parts themselves: heads and content.
extension PartParser {
    mutating func takeHead(
        _ bytes: UnsafeRawBufferPointer, from position: inout Int
    ) throws(CodecError) -> Step? {
        guard position < bytes.count else { return .more }
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[position...])
        let start = origin + Int64(position)
        let length: Int?
        do {
            length = try unsafe headParser.parse(rest)
        } catch {
            throw CodecError(error, inPartHeadAt: start)
        }
        guard let length else { return .more }
        let fields = unsafe headParser.copyFields(from: rest)
        let head: PartHead
        do {
            head = try PartHead(
                fields, kind: kind, outer: outerNames.last, nameBytes: limits.nameBytes)
            position += length
            if try opensNested(head) { return nil }
        } catch {
            let place = fields.lastIndex { $0.name == error.field }
            let distance = place.map { Int64(headParser.slot($0).valueStart) } ?? 0
            throw CodecError(error.kind, at: start + distance, error.detail)
        }
        beginContent(head, at: origin + Int64(position))
        return .part(head)
    }

    private mutating func beginContent(_ head: PartHead, at offset: Int64) {
        headParser.reset()
        contentOffset = offset
        state = .content
        isAtLineStart = true
        contentBytes = 0
        contentLimit = kind == .formData && !head.isFile ? limits.fieldBytes : limits.fileBytes
    }

    /// Whether the part contains nested parts. If so, enters them.
    private mutating func opensNested(_ head: PartHead) throws(PartHeadFault) -> Bool {
        guard kind == .formData, !head.isFile, let type = head.mediaType,
            type.essence == "multipart/mixed"
        else { return false }
        guard delimiters.count < limits.depth else {
            throw PartHeadFault(.nestedTooDeeply, .contentType)
        }
        // Two nested levels with the same boundary would be ambiguous.
        guard let boundary = try? MultipartBoundary(of: type), !delimiters.contains(boundary)
        else { throw PartHeadFault(.invalidBoundary, .contentType) }
        headParser.reset()
        delimiters.open(boundary)
        outerNames.append(head.name ?? "")
        enterFiller(atLineStart: true)
        return true
    }

    mutating func takeContent(
        _ bytes: UnsafeRawBufferPointer, from position: inout Int
    ) throws(CodecError) -> Step? {
        let (place, verdict) = unsafe nextDelimiter(in: bytes, from: position)
        let start = position
        guard place > start else { return try enter(verdict, from: &position) }
        // The bytes that fit are delivered first, so that the limit does not depend on the split.
        let taken = min(Int64(place - start), contentLimit - contentBytes)
        guard taken > 0 else { throw CodecError(.partTooLong, at: origin + Int64(start)) }
        contentBytes += taken
        position += Int(taken)
        return .content(start..<position)
    }
}

extension CodecError {
    /// The error of the field parser, as an error of the part that begins at `start`.
    fileprivate init(_ error: HTTPParseError, inPartHeadAt start: Int64) {
        let kind: Kind
        switch error.kind {
        case .trailersTooLong, .fieldTooLong, .fieldsTooLong, .tooManyFields:
            kind = .partHeadTooLong
        default: kind = .invalidPartHead
        }
        self.init(kind, at: start + Int64(error.offset), error.reason)
    }
}
