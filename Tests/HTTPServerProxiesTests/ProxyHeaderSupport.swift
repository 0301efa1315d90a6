import HTTPParser
import HTTPServerCore
import HTTPServerProxies
import Testing

/// The outcome of reading a header.
enum HeaderOutcome: Hashable, Sendable, CustomStringConvertible {
    /// A header, and how many bytes it had.
    case header(ProxyHeader, Int)
    case error(ProxyHeaderError.Kind, Int)
    /// The input ended before the end of the header.
    case incomplete

    var description: String {
        switch self {
        case .header(let header, let count): "\(header), \(count) bytes"
        case .error(let kind, let offset): "\(kind) at byte \(offset)"
        case .incomplete: "incomplete"
        }
    }
}

/// Feeds pieces to a parser until it has a header or an error.
func outcome(
    of pieces: [ArraySlice<UInt8>], _ parser: ProxyHeaderParser = ProxyHeaderParser()
) -> HeaderOutcome {
    var parser = parser
    var count = 0
    do throws(ProxyHeaderError) {
        for piece in pieces {
            let taken = try parser.append(Array(piece).span)
            count += taken
            if let header = parser.header { return .header(header, count) }
            #expect(taken == piece.count, "an incomplete header takes all bytes")
        }
    } catch {
        return .error(error.kind, error.offset)
    }
    return .incomplete
}

/// The outcome for the whole input, which must be the same byte by byte and cut in two at each
/// place.
func outcome(
    of bytes: [UInt8], _ parser: ProxyHeaderParser = ProxyHeaderParser()
) -> HeaderOutcome {
    let whole = outcome(of: [bytes[...]], parser)
    #expect(outcome(of: bytes.indices.map { bytes[$0...$0] }, parser) == whole)
    for cut in 1..<max(bytes.count, 1) {
        #expect(outcome(of: [bytes[..<cut], bytes[cut...]], parser) == whole, "cut at \(cut)")
    }
    return whole
}

/// The number of the byte at which the parser refuses the input, when it gets one at a time.
func refusal(of bytes: [UInt8]) -> Int? {
    var parser = ProxyHeaderParser()
    for (index, byte) in bytes.enumerated() {
        do throws(ProxyHeaderError) {
            _ = try parser.append([byte].span)
        } catch {
            return index
        }
    }
    return nil
}

let ipv4Ends = ProxyHeader(
    .proxy, source: .ipv4("192.0.2.1", port: 56_324),
    destination: .ipv4("198.51.100.1", port: 443))

let ipv6Ends = ProxyHeader(
    .proxy, source: .ipv6("2001:db8::1", port: 0),
    destination: .ipv6("2001:db8::2", port: 65_535))
