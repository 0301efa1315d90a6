import FuzzSupport
import HTTPParser

/// The request parser yields events or its own error, wherever its input is cut; the head parser
/// agrees with the oracle; and what was accepted is written and read back unchanged.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRequestParser(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = unsafe UnsafeBufferPointer(start: data, count: size)
    guard let input = unsafe FuzzInput(bytes, role: .request) else { return 0 }
    let events = input.checkedEvents()
    input.checkHead(.request)
    for message in RecordedMessage.messages(in: events) { checkRoundTrip(message) }
    return 0
}

private func checkRoundTrip(_ message: RecordedMessage) {
    var buffer = ByteBuffer()
    do throws(HTTPMessageError) {
        try write(message, into: &buffer)
    } catch {
        // Only these may be written by a peer and not by us.
        let hosts = message.fields.values(of: .host).count
        guard error.kind == .missingHost, hosts != 1 else { fatalError("\(error): \(message)") }
        return
    }
    var bytes: [UInt8] = []
    for index in 0..<buffer.count { bytes.append(buffer.bytes[index]) }
    let read = RecordedMessage.messages(in: WireSetup(limits: .generous).events(bytes))
    var expected = message
    expected.startLine[2] = "HTTP/1.1"
    guard read == [expected] else {
        fatalError("\(Escapes.text(bytes)) is read as \(read) but was \(expected)")
    }
}

private func write(
    _ message: RecordedMessage, into buffer: inout ByteBuffer
) throws(HTTPMessageError) {
    guard let method = HTTPMethod(message.startLine[0]) else { fatalError("\(message)") }
    var serializer = RequestSerializer()
    try serializer.head(
        method, target: message.startLine[1], fields: message.fields, framing: message.framing,
        closes: message.closes, into: &buffer)
    try serializer.content(message.content.span, into: &buffer)
    try serializer.end(trailers: message.trailers, into: &buffer)
}

extension ParserLimits {
    /// Latin-1 values grow as UTF-8, and the serialiser may add a Content-Length of 0 and the
    /// wish to close.
    fileprivate static var generous: ParserLimits {
        var limits = ParserLimits()
        limits.fieldLineBytes *= 2
        limits.fieldSectionBytes *= 3
        limits.trailerBytes *= 2
        limits.fieldCount += 2
        return limits
    }
}
