/// The six fields that decide where a message ends and whether its connection persists, switches
/// protocol or expects `100 Continue`. They are recorded while the head is parsed.
package struct FramingFields: Sendable {
    package struct Flags: OptionSet, Sendable {
        package let rawValue: UInt16
        @inline(__always)
        package init(rawValue: UInt16) { self.rawValue = rawValue }

        /// Replaces the generic `contains` of `OptionSet`, which other modules would call
        /// unspecialised.
        @inline(__always)
        package func contains(_ member: Self) -> Bool {
            rawValue & member.rawValue == member.rawValue
        }

        package static var host: Self { Self(rawValue: 1) }
        package static var chunked: Self { Self(rawValue: 2) }
        package static var close: Self { Self(rawValue: 4) }
        package static var keepAlive: Self { Self(rawValue: 8) }
        package static var upgradeOption: Self { Self(rawValue: 16) }
        package static var upgradeField: Self { Self(rawValue: 32) }
        package static var expectContinue: Self { Self(rawValue: 64) }
        package static var expectOther: Self { Self(rawValue: 128) }
    }

    package var flags: Flags
    /// The announced length in bytes; -1 without Content-Length.
    package var contentLength: Int64

    @inline(__always)
    package init(flags: Flags = [], contentLength: Int64 = -1) {
        self.flags = flags
        self.contentLength = contentLength
    }

    package enum Name { case host, contentLength, transferEncoding, connection, expect, upgrade }

    static func name(of bytes: UnsafeRawBufferPointer) -> Name? {
        switch bytes.count {
        case 4: return unsafe matches(bytes, "host") ? .host : nil
        case 6: return unsafe matches(bytes, "expect") ? .expect : nil
        case 7: return unsafe matches(bytes, "upgrade") ? .upgrade : nil
        case 10: return unsafe matches(bytes, "connection") ? .connection : nil
        case 14: return unsafe matches(bytes, "content-length") ? .contentLength : nil
        case 17: return unsafe matches(bytes, "transfer-encoding") ? .transferEncoding : nil
        default: return nil
        }
    }

    /// Records a field line if its field is one of the six. `offset` is the offset of the value.
    @inline(never)
    mutating func record(
        name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, at offset: Int,
        isRequest: Bool, leniency: ParserLeniency
    ) throws(HTTPParseError) {
        switch unsafe Self.name(of: name) {
        case nil: return
        case .host:
            if isRequest { try unsafe recordHost(value, at: offset) }
        case .contentLength: try unsafe recordLength(value, at: offset, leniency: leniency)
        case .transferEncoding: try unsafe recordTransferCoding(value, at: offset)
        case .connection: unsafe recordConnection(value)
        case .expect: unsafe recordExpect(value)
        case .upgrade: flags.insert(.upgradeField)
        }
    }

    /// Records a field of a request if it has a common form: one plain Host of at most 32 bytes,
    /// `Connection: keep-alive`, or one Content-Length of at most eight digits. If this returns
    /// `false`, the caller must call `record`.
    /// - Parameter end: the end of readable memory as an offset from `base`, at least 64.
    @inline(__always)
    mutating func recordUsual(_ base: UnsafeRawPointer, _ slot: FieldSlot, end: Int) -> Bool {
        let start = Int(slot.valueStart)
        let length = Int(slot.valueEnd &- slot.valueStart)
        switch slot.nameEnd &- slot.nameStart {
        case 4 where length > 0 && length <= 32 && !flags.contains(.host):
            var odd = unsafe UInt64(Scanner.hostStops16(base, start, end: end))
            if length > 16 {
                odd &= 0xFFFF
                odd |= unsafe UInt64(Scanner.hostStops16(base, start &+ 16, end: end)) << 16
            }
            odd &= (1 &<< UInt64(truncatingIfNeeded: length)) &- 1
            guard unsafe odd == 0 || Self.isPort(base + start, odd, length) else { return false }
            flags.insert(.host)
            return true
        case 10 where length == 10:
            // The caller has compared the name up to its last two letters.
            guard unsafe Scanner.byte(base, Int(slot.nameEnd) &- 2) | 0x20 == 0x6F,
                unsafe Scanner.byte(base, Int(slot.nameEnd) &- 1) | 0x20 == 0x6E,
                unsafe Scanner.load64(base, start) == 0x696C_612D_7065_656B,
                unsafe Scanner.load64(base, start &+ 2) == 0x6576_696C_612D_7065
            else { return false }
            flags.insert(.keepAlive)
            return true
        case 14 where length <= 8 && contentLength < 0 && !flags.contains(.chunked):
            // The caller has compared the first eight letters of the name.
            let rest = unsafe Scanner.load64(base, Int(slot.nameEnd) &- 8)
            guard rest | 0x2020_2020_2020_2020 == 0x6874_676E_656C_2D74 else { return false }
            var number: Int64 = 0
            for position in start..<(start &+ length) {
                let digit = unsafe Scanner.byte(base, position) &- 0x30
                guard digit < 10 else { return false }
                number = number &* 10 &+ Int64(digit)
            }
            contentLength = number
            return true
        default: return false
        }
    }

    /// Whether the only bit in `odd` marks the colon before a port below 60000. Larger ports may
    /// exceed 65535, so they are left to the full grammar.
    @inline(__always)
    private static func isPort(_ host: UnsafeRawPointer, _ odd: UInt64, _ length: Int) -> Bool {
        let colon = odd.trailingZeroBitCount
        guard odd & (odd &- 1) == 0, colon > 0,
            unsafe Scanner.byte(host, colon) == UInt8(ascii: ":")
        else { return false }
        let digits = length &- colon &- 1
        // A port of five digits is surely at most 65535 if its first digit is at most 5.
        let first = unsafe Scanner.byte(host, colon &+ 1)
        guard digits > 0, digits < 5 || (digits == 5 && first < 0x36) else { return false }
        for offset in 1...digits {
            guard unsafe ByteClass.isDigit(Scanner.byte(host, colon &+ offset)) else {
                return false
            }
        }
        return true
    }

    private mutating func recordHost(
        _ value: UnsafeRawBufferPointer, at offset: Int
    ) throws(HTTPParseError) {
        guard !flags.contains(.host) else { throw HTTPParseError(.repeatedHost, at: offset) }
        guard unsafe TargetGrammar.isHost(value) else {
            throw HTTPParseError(.invalidHost, at: offset)
        }
        flags.insert(.host)
    }

    /// RFC 9110 section 8.6: 1*DIGIT and nothing else. A list of equal lengths such as `5, 5` is
    /// accepted only with the leniency `identicalContentLengths`, as are repeated fields.
    private mutating func recordLength(
        _ value: UnsafeRawBufferPointer, at offset: Int, leniency: ParserLeniency
    ) throws(HTTPParseError) {
        guard !flags.contains(.chunked) else {
            throw HTTPParseError(.contentLengthWithTransferCoding, at: offset)
        }
        let forgives = leniency.contains(.identicalContentLengths)
        var start = 0
        repeat {
            var end = start
            while end < value.count, unsafe value[end] != UInt8(ascii: ",") { end += 1 }
            let isList = end < value.count || start > 0
            let element = unsafe UnsafeRawBufferPointer(rebasing: value[start..<end])
            let digits = unsafe isList && forgives ? trimmed(element) : element
            guard let length = unsafe decimal(digits) else {
                throw HTTPParseError(.invalidContentLength, at: offset)
            }
            if isList || contentLength >= 0 {
                guard forgives, contentLength < 0 || contentLength == length else {
                    throw HTTPParseError(.repeatedContentLength, at: offset)
                }
            }
            contentLength = length
            start = end + 1
        } while start <= value.count
    }

    /// RFC 9112 section 6.1: the only accepted value is a single `chunked`.
    private mutating func recordTransferCoding(
        _ value: UnsafeRawBufferPointer, at offset: Int
    ) throws(HTTPParseError) {
        guard contentLength < 0 else {
            throw HTTPParseError(.contentLengthWithTransferCoding, at: offset)
        }
        guard !flags.contains(.chunked), unsafe !value.isEmpty else {
            throw HTTPParseError(.invalidTransferCoding, at: offset)
        }
        guard unsafe matches(value, "chunked") else {
            throw unsafe HTTPParseError(Self.transferCodingFault(value), at: offset)
        }
        flags.insert(.chunked)
    }

    /// Unknown codings before one final `chunked` are valid but not implemented. Any other value
    /// leaves the length in doubt, so RFC 9112 section 6.3 demands 400.
    private static func transferCodingFault(
        _ value: UnsafeRawBufferPointer
    ) -> HTTPParseError.Kind {
        var sawChunked = false
        var isValid = true
        unsafe forEachElement(value) { element in
            if sawChunked { isValid = false }
            if unsafe matches(element, "chunked") {
                sawChunked = true
            } else if unsafe element.isEmpty || !element.allSatisfy(ByteClass.isToken)
                || matches(element, "identity")
            {
                isValid = false
            }
        }
        return isValid && sawChunked ? .unsupportedTransferCoding : .invalidTransferCoding
    }

    private mutating func recordConnection(_ value: UnsafeRawBufferPointer) {
        if unsafe matches(value, "keep-alive") {
            flags.insert(.keepAlive)
            return
        }
        var found: Flags = []
        unsafe forEachElement(value) { option in
            if unsafe matches(option, "close") { found.insert(.close) }
            if unsafe matches(option, "keep-alive") { found.insert(.keepAlive) }
            if unsafe matches(option, "upgrade") { found.insert(.upgradeOption) }
        }
        flags.formUnion(found)
    }

    private mutating func recordExpect(_ value: UnsafeRawBufferPointer) {
        unsafe flags.insert(matches(value, "100-continue") ? .expectContinue : .expectOther)
    }
}

/// Whether `bytes` equal `text`, which is in lower case; the case of `bytes` is ignored.
@inline(__always)
package func matches(_ bytes: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
    unsafe equalsIgnoringCase(
        bytes, UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
}

/// Calls `body` with each element of a comma-separated list, without white space around it. Empty
/// elements are included.
package func forEachElement(
    _ list: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
) {
    var start = 0
    while start <= list.count {
        var end = start
        while end < list.count, unsafe list[end] != UInt8(ascii: ",") { end += 1 }
        unsafe body(trimmed(UnsafeRawBufferPointer(rebasing: list[start..<end])))
        start = end + 1
    }
}

/// The bytes without leading and trailing spaces and tabs.
package func trimmed(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    var (start, end) = (0, bytes.count)
    while start < end, unsafe ByteClass.isBlank(bytes[start]) { start += 1 }
    while end > start, unsafe ByteClass.isBlank(bytes[end - 1]) { end -= 1 }
    return unsafe UnsafeRawBufferPointer(rebasing: bytes[start..<end])
}

/// 1*DIGIT as a number below 2^63; `nil` for no digits, a sign, white space or overflow.
package func decimal(_ bytes: UnsafeRawBufferPointer) -> Int64? {
    guard unsafe !bytes.isEmpty else { return nil }
    var number: Int64 = 0
    for index in 0..<bytes.count {
        let byte = unsafe bytes[index]
        guard ByteClass.isDigit(byte) else { return nil }
        let (tens, overflow) = number.multipliedReportingOverflow(by: 10)
        let (sum, carry) = tens.addingReportingOverflow(Int64(byte &- 0x30))
        guard !overflow, !carry else { return nil }
        number = sum
    }
    return number
}
