import FuzzSupport
import HTTPParser

/// The response parser yields events or its own error, wherever its input is cut; the head parser
/// agrees with the oracle; and what was accepted is written and read back unchanged.
///
/// The first byte says which requests are answered: bits 0 and 1 how many, then two bits each.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzResponseParser(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = unsafe UnsafeBufferPointer(start: data, count: size)
    guard let choice = unsafe bytes.first else { return 0 }
    let known: [HTTPMethod] = [.get, .head, .connect, .post]
    let methods = (0..<(choice & 3)).map { known[Int(choice >> (2 + 2 * $0)) & 3] }
    let role = WireSetup.Role.response(to: methods.isEmpty ? nil : methods)
    guard let input = unsafe FuzzInput(bytes.dropFirst(), role: role) else { return 0 }
    let events = input.checkedEvents()
    if methods.isEmpty { input.checkHead(.response) }
    for (index, message) in RecordedMessage.messages(in: events).enumerated() {
        checkRoundTrip(message, to: methods.isEmpty ? .get : methods[index])
    }
    return 0
}

private func checkRoundTrip(_ message: RecordedMessage, to method: HTTPMethod) {
    var buffer = ByteBuffer()
    do throws(HTTPMessageError) {
        try write(message, to: method, into: &buffer)
    } catch {
        fatalError("\(error): \(message)")
    }
    var bytes: [UInt8] = []
    for index in 0..<buffer.count { bytes.append(buffer.bytes[index]) }
    let setup = WireSetup(.response(to: [method]), limits: .generous, closes: true)
    let read = RecordedMessage.messages(in: setup.events(bytes))
    var expected = message
    expected.startLine = message.expectedLine
    guard read == [expected] else {
        fatalError("\(Escapes.text(bytes)) is read as \(read) but was \(expected)")
    }
}

private func write(
    _ message: RecordedMessage, to method: HTTPMethod, into buffer: inout ByteBuffer
) throws(HTTPMessageError) {
    var serializer = ResponseSerializer()
    try serializer.head(
        message.status, fields: message.fields, framing: message.framing, to: method,
        connection: message.closes ? .close : .none, into: &buffer)
    try serializer.content(message.content.span, into: &buffer)
    try serializer.end(trailers: message.trailers, into: &buffer)
}

extension RecordedMessage {
    fileprivate var status: HTTPStatus {
        guard let code = Int(startLine[1]), let status = HTTPStatus(code) else {
            fatalError("\(self)")
        }
        return status
    }

    fileprivate var expectedLine: [String] {
        let phrase = status.reasonPhrase
        return ["HTTP/1.1", startLine[1]] + (phrase.isEmpty ? [] : [phrase])
    }
}

extension ParserLimits {
    /// Latin-1 values grow as UTF-8.
    fileprivate static var generous: ParserLimits {
        var limits = ParserLimits()
        limits.fieldLineBytes *= 2
        limits.fieldSectionBytes *= 3
        limits.trailerBytes *= 2
        // The serialiser may add framing and what it says of the connection.
        limits.fieldCount += 2
        return limits
    }
}
