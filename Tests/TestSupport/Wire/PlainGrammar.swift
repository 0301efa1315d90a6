import HTTPParser

// The fuzzers share this file, and can import only modules of the toolkit that are products.
#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The grammar that the oracle needs, on text.
enum PlainGrammar {
    private static let tokenSigns = Set("!#$%&'*+-.^_`|~".utf8)
    private static let hostSigns = Set("-._~%!$&'()*+,;=".utf8)

    static func isToken(_ byte: UInt8) -> Bool {
        isLetter(byte) || isDigit(byte) || tokenSigns.contains(byte)
    }

    static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isToken)
    }

    static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }

    private static func isHost(_ byte: UInt8) -> Bool {
        isLetter(byte) || isDigit(byte) || hostSigns.contains(byte)
    }

    /// A name in which each percent sign begins an escape.
    private static func isName(_ text: some StringProtocol) -> Bool {
        let pieces = text.utf8.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false)
        return !text.isEmpty && text.utf8.allSatisfy(isHost)
            && pieces.dropFirst().allSatisfy { piece in
                piece.count >= 2
                    && piece.prefix(2).allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
            }
    }

    /// The content of brackets: an IPv6 address that the system accepts, with an optional zone, or
    /// an address of a future version (IPvFuture).
    private static func isLiteral(_ text: Substring) -> Bool {
        if text.first?.lowercased() == "v" {
            let parts = text.dropFirst().split(
                separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            return parts.count == 2 && !parts[0].isEmpty && !parts[1].isEmpty
                && parts[0].allSatisfy(\.isHexDigit)
                && parts[1].utf8.allSatisfy {
                    (isHost($0) && $0 != UInt8(ascii: "%")) || $0 == UInt8(ascii: ":")
                }
        }
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard isIPv6(String(parts[0])) else { return false }
        guard parts.count == 2 else { return true }
        // The zone (RFC 6874 section 2) has no sub-delims.
        return parts[1].hasPrefix("25") && isName(parts[1].dropFirst(2))
            && !parts[1].utf8.contains { "!$&'()*+,;=".utf8.contains($0) }
    }

    private static func isIPv6(_ text: String) -> Bool {
        var address = in6_addr()
        return unsafe inet_pton(AF_INET6, text, &address) == 1
    }

    /// A number of digits below 2^63.
    static func number(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy(isDigit) else { return nil }
        return Int64(text)
    }

    /// The elements of a comma-separated list, blanks trimmed, empty ones kept.
    static func elements(_ text: String) -> [String] {
        text.split(separator: ",", omittingEmptySubsequences: false).map { trimmed($0) }
    }

    static func trimmed(_ text: Substring) -> String {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        let front = text.drop(while: isBlank)
        return String(front.reversed().drop(while: isBlank).reversed())
    }

    /// host [ ":" port ]: a name or an address in brackets, and a port up to 65535 or empty.
    static func isAuthority(_ text: String) -> Bool {
        guard text.hasPrefix("[") else {
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let host = parts.first, isName(host) else { return false }
            return parts.count == 1 || isPort(parts[1])
        }
        let parts = text.dropFirst().split(
            separator: "]", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else { return false }
        guard isLiteral(parts[0]) else { return false }
        return parts[1].isEmpty || (parts[1].hasPrefix(":") && isPort(parts[1].dropFirst()))
    }

    private static func isPort(_ text: some StringProtocol) -> Bool {
        text.isEmpty || number(text).map { $0 <= 65_535 } ?? false
    }

    /// The form of a target for a method, as the parser names it; empty for none.
    static func form(of target: String, method: String) -> String {
        if method == "CONNECT" {
            let port = target.split(separator: ":", omittingEmptySubsequences: false).last ?? ""
            let hasPort = target.contains(":") && !port.isEmpty && !port.contains("]")
            return hasPort && isAuthority(target) ? "authority" : ""
        }
        if target.hasPrefix("/") { return "origin" }
        if target == "*" { return method == "OPTIONS" ? "asterisk" : "" }
        return isAbsolute(target) ? "absolute" : ""
    }

    private static func isAbsolute(_ target: String) -> Bool {
        guard let colon = target.firstIndex(of: ":"), target[colon...].hasPrefix("://") else {
            return false
        }
        let scheme = target[..<colon].utf8
        let signs = Set("+-.".utf8)
        guard let first = scheme.first, isLetter(first),
            scheme.allSatisfy({ isLetter($0) || isDigit($0) || signs.contains($0) })
        else { return false }
        let rest = target[colon...].dropFirst(3)
        return isAuthority(String(rest.prefix { $0 != "/" && $0 != "?" }))
    }
}

extension PlainReader {
    mutating func readRequestLine(_ line: Range<Int>) throws(Stop) {
        let end = line.upperBound
        let methodEnd = bytes[line].firstIndex { !PlainGrammar.isToken($0) } ?? end
        guard methodEnd > line.lowerBound, methodEnd < end, bytes[methodEnd] == 0x20 else {
            throw stop(.invalidMethod, methodEnd)
        }
        let rest = bytes[(methodEnd + 1)..<end]
        let targetEnd = rest.firstIndex { $0 <= 0x20 || $0 >= 0x7F || $0 == 0x23 } ?? end
        let target = (methodEnd + 1)..<targetEnd
        guard !target.isEmpty else { throw stop(.invalidTarget, targetEnd) }
        guard targetEnd < end else { throw stop(.invalidVersion, targetEnd) }
        guard bytes[targetEnd] == 0x20 else { throw stop(.invalidTarget, targetEnd) }
        head.minor = try readVersion((targetEnd + 1)..<end)
        head.method = text(line.lowerBound..<methodEnd)
        head.target = target
        head.form = PlainGrammar.form(of: text(target), method: head.method)
        guard !head.form.isEmpty else { throw stop(.invalidTarget, target.lowerBound) }
    }

    private func readVersion(_ range: Range<Int>) throws(Stop) -> Int {
        let version = text(range).utf8.map { $0 }
        guard version.count == 8, text(range).hasPrefix("HTTP/"), version[6] == UInt8(ascii: "."),
            PlainGrammar.isDigit(version[5]), PlainGrammar.isDigit(version[7])
        else { throw stop(.invalidVersion, range.lowerBound) }
        guard version[5] == UInt8(ascii: "1") else {
            throw stop(.unsupportedVersion, range.lowerBound + 5)
        }
        return Int(version[7] - UInt8(ascii: "0"))
    }

    mutating func readStatusLine(_ line: Range<Int>) throws(Stop) {
        let start = line.lowerBound
        guard line.count >= 8 else { throw stop(.invalidVersion, start) }
        head.minor = try readVersion(start..<(start + 8))
        guard line.count >= 12, bytes[start + 8] == 0x20 else {
            throw stop(.invalidStatusLine, start + 8)
        }
        let digits = (start + 9)..<(start + 12)
        if let spoiler = digits.first(where: { !PlainGrammar.isDigit(bytes[$0]) }) {
            throw stop(.invalidStatusLine, spoiler)
        }
        head.code = Int(text(digits)) ?? 0
        guard head.code >= 100 else { throw stop(.invalidStatusLine, start + 9) }
        guard line.count > 12 || leniency.contains(.missingReasonSpace) else {
            throw stop(.invalidStatusLine, start + 12)
        }
        guard line.count == 12 || bytes[start + 12] == 0x20 else {
            throw stop(.invalidStatusLine, start + 12)
        }
        head.reason = min(start + 13, line.upperBound)..<line.upperBound
    }
}
