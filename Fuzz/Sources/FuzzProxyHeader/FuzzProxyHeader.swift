import HTTPServerCore
import HTTPServerProxies

/// Any bytes give a header or an error, the same however they are cut; no byte after a header is
/// taken; and a header is read again from its written form.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzProxyHeader(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    guard let first = bytes.first else { return 0 }
    let input = bytes.dropFirst()
    let whole = Outcome([input])
    let cut = input.startIndex + min(Int(first), input.count)
    check(Outcome([input[..<cut], input[cut...]]) == whole, "cut in two")
    check(Outcome(input.indices.map { input[$0...$0] }) == whole, "byte by byte")
    guard let header = whole.header else { return 0 }
    check(whole.taken <= input.count, "bytes that were taken")
    check(Outcome([input.prefix(whole.taken)]) == whole, "the header alone")
    checkWriting(header)
    return 0
}

private struct Outcome: Equatable {
    var header: ProxyHeader?
    var error: ProxyHeaderError?
    /// Of the bytes before an error this depends on the cuts.
    var taken = 0

    init(_ pieces: [ArraySlice<UInt8>]) {
        var parser = ProxyHeaderParser()
        do throws(ProxyHeaderError) {
            for piece in pieces {
                let count = try parser.append(Array(piece).span)
                check(parser.header != nil || count == piece.count, "an open header takes all")
                taken += count
            }
            header = parser.header
        } catch {
            self.error = error
            taken = 0
        }
    }
}

private func checkWriting(_ header: ProxyHeader) {
    // An unspecified family and LOCAL have no form for the rest.
    guard header.command == .proxy, let source = header.source else { return }
    // Bytes that are no UTF-8 become longer in a text.
    let ends = [source, header.destination ?? source]
    guard ends.allSatisfy({ $0.port != nil || $0.host.utf8.count <= 108 }) else { return }
    for hasChecksum in [true, false] {
        let again = Outcome([header.bytes(in: .binary, hasChecksum: hasChecksum)[...]])
        check(again.header == header, "version 2 again")
    }
    guard header.source?.port != nil else { return }
    let line = Outcome([header.bytes(in: .text)[...]])
    check(line.header?.source == header.source, "source in version 1")
    check(line.header?.destination == header.destination, "destination in version 1")
}

private func check(_ holds: Bool, _ what: String) {
    guard holds else { fatalError(what) }
}
