/// A generator of random numbers that gives the same sequence for the same seed everywhere
/// (SplitMix64), so that a failing case can be reproduced.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator.
    public init(seed: UInt64) {
        state = seed
    }

    /// The next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

/// Makes heads: mostly valid, with names, lengths and bytes at the limits of the grammar.
public struct HeadGenerator: Sendable {
    private var random: SeededGenerator

    private static let methods = [
        "GET", "GET", "POST", "PUT", "HEAD", "PATCH", "DELETE", "OPTIONS", "CONNECT", "PROPFIND",
        "G", "get", "M-SEARCH", "GETTER", "",
    ]
    private static let targets = [
        "/", "/", "/a/b?c=d&e", "*", "http://a.example/x?y", "HTTPS://[::1]:8443", "a:443", "a",
        "/%2e%2e/", "//x", "/a#b", "", "http://u@h/", "[::1]:0",
    ]
    private static let versions = [
        "HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "http/1.1",
        "HTTP/1.10", "HTTP/1.", "HTTP/1.1 ", "",
    ]
    private static let statusLines = [
        "HTTP/1.1 200 OK", "HTTP/1.1 204 ", "HTTP/1.0 304 Not Modified", "HTTP/1.1 100 Continue",
        "HTTP/1.1 099 No", "HTTP/1.1 200", "HTTP/1.1 2000 OK", "HTTP/1.1  200 OK", "HTTP/1.1 999 ?",
    ]
    private static let names = [
        "Host", "hOsT", "Content-Length", "content-length", "Transfer-Encoding", "Connection",
        "CONNECTION", "Expect", "Upgrade", "Hosts", "Connection!", "Content-Lengti", "Hos",
        "Transfer-Encodinf", "Upgrades", "Accept", "X",
    ]
    private static let values = [
        "a", "example.org:80", "a.example", "0", "5", "+5", "5,5", "5, 5", "", "chunked",
        "gzip, chunked", "chunked, chunked", "keep-alive", "close", "Upgrade, close", "h2c",
        "100-continue", "Keep-Alive", "keep-alivE", "é", "a\tb", "99999999999999999999", "[::1]",
        "a_b", "1234567890123456", "12345678901234567",
    ]
    /// Bytes that end an element or make it invalid.
    public static let stops: [UInt8] = [
        0x00, 0x01, 0x09, 0x0A, 0x0D, 0x1F, 0x20, 0x22, 0x23, 0x28, 0x2C, 0x2F, 0x3A, 0x3B, 0x40,
        0x5B, 0x7B, 0x7F, 0x80, 0xAD, 0xFF,
    ]

    /// Creates a generator.
    public init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    /// The next head of a request.
    public mutating func nextRequest() -> [UInt8] {
        let line = "\(pick(Self.methods)) \(target()) \(pick(Self.versions))"
        return finish(Array(line.utf8))
    }

    /// The next head of a response.
    public mutating func nextResponse() -> [UInt8] {
        finish(Array(pick(Self.statusLines).utf8))
    }

    /// A number of `0..<bound`.
    public mutating func number(below bound: Int) -> Int {
        Int.random(in: 0..<bound, using: &random)
    }

    private mutating func pick<Element>(_ list: [Element]) -> Element {
        list[number(below: list.count)]
    }

    private mutating func chance(_ percent: Int) -> Bool { number(below: 100) < percent }

    private mutating func target() -> String {
        guard chance(40) else { return pick(Self.targets) }
        return "/" + String(repeating: "x", count: number(below: 140))
    }

    private mutating func finish(_ startLine: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = chance(5) ? [13, 10] : []
        bytes += startLine + [13, 10]
        if chance(80) { bytes += "Host: a.example\r\n".utf8 }
        for _ in 0..<pick([0, 1, 1, 2, 3, 5, 8, 40]) { bytes += field() }
        bytes += [13, 10]
        if chance(35) { spoil(&bytes) }
        if chance(10) { bytes.removeLast(number(below: bytes.count)) }
        if chance(30) { bytes += "GET / HTTP/1.1\r\n\r\n".utf8 }
        return bytes
    }

    private mutating func field() -> [UInt8] {
        var line = chance(25) ? Array(pick(Self.names).utf8) : word(below: 50)
        line += pick([":", ": ", ": ", ": ", ":\t", ":  ", " :"]).utf8
        line += chance(40) ? Array(pick(Self.values).utf8) : word(below: 150)
        return line + pick(["\r\n", "\r\n", "\r\n", "\r\n", "\r\n", " \r\n", "\t\r\n"]).utf8
    }

    private mutating func word(below bound: Int) -> [UInt8] {
        var word: [UInt8] = []
        for _ in 0..<number(below: bound) {
            word.append(UInt8(ascii: "A") &+ UInt8(number(below: 26)) | (chance(50) ? 0x20 : 0))
        }
        return word
    }

    /// Inserts, removes or changes a byte, one to three times.
    private mutating func spoil(_ bytes: inout [UInt8]) {
        for _ in 0...number(below: 3) {
            let place = number(below: bytes.count)
            switch number(below: 3) {
            case 0: bytes.insert(pick(Self.stops), at: place)
            case 1 where bytes.count > 1: bytes.remove(at: place)
            default: bytes[place] = pick(Self.stops)
            }
        }
    }
}
