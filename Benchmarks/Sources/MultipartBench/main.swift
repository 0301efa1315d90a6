// Measures how fast the parser of multipart content goes over the content of a part, and memchr
// over the same bytes in the same run:
//
//   MultipartBench [MIB]
//
// Prints GB/s, the best of seven: the parser on the whole and on pieces of 64 KiB as a server reads
// them, memchr for a byte that is not there, and memchr from CR to CR, which is the plain way.

import Foundation
import HTTPCodecs
import HTTPParser

let mebibytes = CommandLine.arguments.dropFirst().first.flatMap(Int.init) ?? 32
let boundaryText = "----WebKitFormBoundary7MA4YWxkTrZu0gW"

/// Bytes of which none is 1, which memchr looks for in vain.
func content(_ tile: () -> [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    let count = mebibytes << 20
    bytes.reserveCapacity(count + 256)
    while bytes.count < count { bytes += tile() }
    return bytes
}

var random = SystemRandomNumberGenerator()
let cases: [(name: String, bytes: [UInt8])] = [
    (
        "random",
        content { (0..<256).map { _ in UInt8.random(in: 2...255, using: &random) } }
    ),
    (
        "text lines",
        content { Array("One more line of text, as there are many in a file.\r\n".utf8) }
    ),
    ("short lines", content { Array("12,34,56\r\n".utf8) }),
    ("lists", content { Array("- a list of things\r\n\r\n--- and rules\r\n".utf8) }),
    ("CR LF", content { [13, 10] }),
    ("near boundaries", content { Array("\r\n--\(boundaryText.dropLast())".utf8) }),
    ("near prefixes", content { Array("\r\n------".utf8) }),
]

/// The best of seven runs in GB/s.
func speed(_ count: Int, _ body: () throws -> Int) rethrows -> Double {
    var best = Duration.seconds(1_000)
    for _ in 0..<7 {
        let start = ContinuousClock.now
        let result = try body()
        best = min(best, start.duration(to: .now))
        guard result == count else { fatalError("\(result) of \(count) bytes") }
    }
    let seconds = Double(best.components.attoseconds) * 1e-18 + Double(best.components.seconds)
    return Double(count) / seconds / 1e9
}

/// The bytes of content that the parser finds in a form, fed in pieces.
func parse(_ form: [UInt8], _ boundary: MultipartBoundary, piece: Int) throws -> Int {
    var limits = MultipartLimits()
    limits.totalBytes = .max
    var parser = PartParser(.mixed, boundary: boundary, limits: limits)
    var count = 0
    var start = 0
    var end = 0
    while end < form.count {
        end = min(end + piece, form.count)
        let bytes = form.span.extracting(start..<end)
        var position = 0
        reading: while true {
            switch try parser.next(bytes, from: &position) {
            case .content(let range): count += range.count
            case .more: break reading
            default: continue
            }
        }
        start += position
    }
    try parser.finish()
    return count
}

/// All bytes, or those up to the last CR with what is behind it, by memchr.
func find(_ byte: CInt, in bytes: [UInt8]) -> Int {
    unsafe bytes.withUnsafeBytes { bytes in
        guard let base = bytes.baseAddress else { return 0 }
        var place = 0
        while place < bytes.count {
            let rest = bytes.count - place
            guard let found = unsafe memchr(base + place, byte, rest) else { break }
            place = unsafe UnsafeRawPointer(found) - base + 1
        }
        return bytes.count
    }
}

let header = ["case", "whole", "64 KiB", "memchr", "memchr CR"]
print(header.map { $0.padding(toLength: 16, withPad: " ", startingAt: 0) }.joined())
for (name, bytes) in cases {
    guard let boundary = MultipartBoundary(boundaryText) else { break }
    var form = MultipartSerializer<Never>(.mixed, boundary: boundary)
    try form.append([:], bytes: bytes)
    let whole = form.bytes
    let figures = [
        try speed(bytes.count) { try parse(whole, boundary, piece: whole.count) },
        try speed(bytes.count) { try parse(whole, boundary, piece: 64 << 10) },
        speed(bytes.count) { find(1, in: bytes) },
        speed(bytes.count) { find(13, in: bytes) },
    ]
    let line = [name] + figures.map { "\(($0 * 10).rounded() / 10)" }
    print(line.map { $0.padding(toLength: 16, withPad: " ", startingAt: 0) }.joined())
}
