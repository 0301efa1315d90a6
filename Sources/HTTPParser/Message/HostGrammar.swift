/// The grammar of hosts (RFC 3986 section 3.2.2).
extension TargetGrammar {
    /// uri-host [ ":" port ], not empty (RFC 9110 section 7.2).
    ///
    /// A host is an IP literal in brackets, or a name that contains no colon. The port is a number
    /// up to 65535, or empty. User information is never accepted.
    package static func isHost(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let first = unsafe bytes.first, first != UInt8(ascii: ":") else { return false }
        let isLiteral = first == UInt8(ascii: "[")
        let length = unsafe isLiteral ? literalLength(bytes) : nameLength(bytes)
        guard let length else { return false }
        guard length < bytes.count else { return true }
        guard unsafe bytes[length] == UInt8(ascii: ":") else { return false }
        return unsafe isPort(UnsafeRawBufferPointer(rebasing: bytes[(length + 1)...]))
    }

    /// reg-name = *( unreserved / pct-encoded / sub-delims ), up to a colon or the end.
    /// - Returns: the length of the name; `nil` when the name is invalid.
    private static func nameLength(_ bytes: UnsafeRawBufferPointer) -> Int? {
        var index = 0
        while index < bytes.count, unsafe bytes[index] != UInt8(ascii: ":") {
            guard let next = unsafe nameEnd(bytes, index) else { return nil }
            index = next
        }
        return index
    }

    /// The end of the reg-name character that begins at `index`; `nil` when that character is
    /// invalid.
    private static func nameEnd(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> Int? {
        let byte = unsafe bytes[index]
        if byte == UInt8(ascii: "%") {
            guard index + 2 < bytes.count, unsafe ByteClass.hexValue(bytes[index + 1]) != nil,
                unsafe ByteClass.hexValue(bytes[index + 2]) != nil
            else { return nil }
            return index + 3
        }
        return isPlain(byte) ? index + 1 : nil
    }

    /// unreserved / sub-delims
    private static func isPlain(_ byte: UInt8) -> Bool {
        ByteClass.isHost(byte) && byte != UInt8(ascii: "%") && byte != UInt8(ascii: ":")
            && byte != UInt8(ascii: "[") && byte != UInt8(ascii: "]")
    }

    /// sub-delims = "!" / "$" / "&" / "'" / "(" / ")" / "*" / "+" / "," / ";" / "="
    private static func isSubDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x21, 0x24, 0x26...0x2C, 0x3B, 0x3D: true
        default: false
        }
    }

    /// IP-literal = "[" ( IPv6address [ "%25" ZoneID ] / IPvFuture ) "]", with RFC 6874's zone.
    /// - Returns: the length of the literal with its brackets; `nil` when the literal is invalid.
    private static func literalLength(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard let end = unsafe bytes.firstIndex(of: UInt8(ascii: "]")), end > 1 else { return nil }
        let inner = unsafe UnsafeRawBufferPointer(rebasing: bytes[1..<end])
        return unsafe isZonedIPv6(inner) || isIPvFuture(inner) ? end + 1 : nil
    }

    /// Whether an authority, uri-host [ ":" port ], is valid and has an IPv6 address in brackets as
    /// its host.
    package static func isIPv6Literal(_ authority: UnsafeRawBufferPointer) -> Bool {
        guard unsafe authority.first == UInt8(ascii: "["), unsafe isHost(authority) else {
            return false
        }
        // The only other valid literal is IPvFuture, which begins with v.
        return unsafe authority[1] | 0x20 != UInt8(ascii: "v")
    }

    private static func isZonedIPv6(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let percent = unsafe bytes.firstIndex(of: UInt8(ascii: "%")) else {
            return unsafe isIPv6(bytes)
        }
        // ZoneID = 1*( unreserved / pct-encoded )
        let zone = unsafe UnsafeRawBufferPointer(rebasing: bytes[percent...])
        guard zone.count > 3, unsafe zone[1] == UInt8(ascii: "2"),
            unsafe zone[2] == UInt8(ascii: "5")
        else { return false }
        var index = 3
        while index < zone.count {
            guard unsafe !isSubDelimiter(zone[index]), let next = unsafe nameEnd(zone, index)
            else { return false }
            index = next
        }
        return unsafe isIPv6(UnsafeRawBufferPointer(rebasing: bytes[..<percent]))
    }

    /// IPvFuture = "v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" )
    private static func isIPvFuture(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let first = unsafe bytes.first, first | 0x20 == UInt8(ascii: "v") else {
            return false
        }
        var index = 1
        while index < bytes.count, unsafe ByteClass.hexValue(bytes[index]) != nil { index += 1 }
        guard index > 1, index + 1 < bytes.count, unsafe bytes[index] == UInt8(ascii: ".") else {
            return false
        }
        return unsafe bytes[(index + 1)...].allSatisfy { isPlain($0) || $0 == UInt8(ascii: ":") }
    }

    /// IPv6address: eight groups of one to four hexadecimal digits. One `::` may replace one or
    /// more groups of zeros, and an IPv4 address the last two groups.
    private static func isIPv6(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let colon = UInt8(ascii: ":")
        var (index, groups, hasGap) = (0, 0, false)
        if unsafe bytes.first == colon {
            guard bytes.count > 1, unsafe bytes[1] == colon else { return false }
            (index, hasGap) = (2, true)
        }
        while index < bytes.count {
            let start = index
            while index < bytes.count, unsafe ByteClass.hexValue(bytes[index]) != nil { index += 1 }
            if index < bytes.count, unsafe bytes[index] == UInt8(ascii: ".") {
                groups += 2
                index = bytes.count
                guard unsafe isIPv4(UnsafeRawBufferPointer(rebasing: bytes[start...])) else {
                    return false
                }
                break
            }
            guard 1...4 ~= index - start else { return false }
            groups += 1
            guard index < bytes.count else { break }
            guard unsafe bytes[index] == colon, index + 1 < bytes.count else { return false }
            index += 1
            guard unsafe bytes[index] == colon else { continue }
            guard !hasGap else { return false }
            (index, hasGap) = (index + 1, true)
        }
        return hasGap ? groups <= 7 : groups == 8
    }

    /// IPv4address = dec-octet "." dec-octet "." dec-octet "." dec-octet, without leading zeros.
    private static func isIPv4(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var (octets, index) = (0, 0)
        while index < bytes.count {
            let start = index
            var number = 0
            while index < bytes.count, unsafe ByteClass.isDigit(bytes[index]), index - start < 4 {
                number = unsafe number * 10 + Int(bytes[index] &- 0x30)
                index += 1
            }
            guard index > start, number <= 255,
                unsafe bytes[start] != UInt8(ascii: "0") || index == start + 1
            else { return false }
            octets += 1
            guard index < bytes.count else { break }
            guard unsafe bytes[index] == UInt8(ascii: "."), index + 1 < bytes.count else {
                return false
            }
            index += 1
        }
        return octets == 4
    }
}
