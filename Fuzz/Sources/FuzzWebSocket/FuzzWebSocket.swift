import HTTPCodecs
import HTTPParser
import WebSocketFrames

/// The machine yields events, and what they are does not depend on where the input was cut; and a
/// machine of the other side reads what it writes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWebSocket(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    guard let choice = input.first else { return 0 }
    let bytes = Array(input.dropFirst())
    let setup = Setup(choice)
    let whole = setup.read(bytes, by: max(bytes.count, 1))
    for count in [1, 2, 3 + Int(choice >> 3)] {
        let split = setup.read(bytes, by: count)
        check(split == whole, "by \(count): \(split), not \(whole)")
    }
    checkDialogue(bytes, setup)
    checkField(bytes)
    return 0
}

private let pool = ContentCodingPool()

private func check(_ holds: Bool, _ what: @autoclosure () -> String) {
    guard holds else { fatalError(what()) }
}

private struct Setup {
    var role: WebSocketRole
    var deflate: DeflateExtension?
    var options = WebSocketOptions(messageBytes: 20_000, compressionFloor: 0)

    init(_ choice: UInt8) {
        role = choice & 1 == 0 ? .server : .client
        let bits = 8 + Int(choice >> 4 & 7)
        if choice & 2 != 0 {
            deflate = DeflateExtension(
                serverKeepsContext: choice & 4 != 0, clientKeepsContext: choice & 4 != 0,
                serverWindowBits: bits, clientWindowBits: bits)
        }
        options.deliversPieces = choice & 8 != 0
        options.fragmentBytes = 1 + bits * 7
    }

    func machine(_ role: WebSocketRole) -> WebSocketMachine {
        WebSocketMachine(role: role, deflate: deflate, options: options, pool: pool, at: .zero)
    }

    func read(_ bytes: [UInt8], by count: Int) -> Outcome {
        var machine = machine(role)
        var output = ByteBuffer()
        var outcome = Outcome()
        for start in stride(from: 0, to: bytes.count, by: count) {
            let piece = Array(bytes[start..<min(start + count, bytes.count)])
            machine.receive(piece, &outcome, into: &output)
        }
        // Masks are random.
        if role == .server { outcome.output.append(copying: output.bytes) }
        outcome.outputCount = output.count
        return outcome
    }
}

private struct Outcome: Equatable {
    var events: [WebSocketEvent] = []
    /// The message whose last piece is to come.
    var open: [UInt8] = []
    var output: [UInt8] = []
    var outputCount = 0

    mutating func take(_ event: WebSocketEvent) {
        switch event {
        case .piece(let piece):
            open += piece.bytes
            check(open.count <= 20_000, "above the limit")
            guard piece.isLast else { return }
            events.append(.piece(WebSocketPiece(piece.kind, open, isLast: true)))
            open = []
        case .message(let message):
            check(message.bytes.count <= 20_000, "above the limit")
            events.append(event)
        case .closed:
            // Pieces before a failure depend on the cuts.
            open = []
            events.append(event)
        default: events.append(event)
        }
    }
}

extension WebSocketMachine {
    fileprivate mutating func receive(
        _ bytes: [UInt8], _ outcome: inout Outcome, into output: inout ByteBuffer
    ) {
        var (bytes, position) = (bytes, 0)
        unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            var span = unsafe MutableSpan(_unsafeElements: buffer)
            while let event = next(&span, from: &position, at: .zero, into: &output) {
                outcome.take(event)
            }
        }
        check(position == bytes.count, "bytes left")
    }
}

/// A message that one side sends arrives at the other as it was, in pieces and whole.
private func checkDialogue(_ bytes: [UInt8], _ setup: Setup) {
    var sender = setup.machine(setup.role == .server ? .client : .server)
    var output = ByteBuffer()
    let half = bytes.count / 2
    do throws(WebSocketSendError) {
        try sender.send(bytes.span, as: .binary, into: &output)
        try sender.send(
            piece: bytes.span.extracting(..<half), of: .binary, isLast: false, into: &output)
        try sender.send(
            piece: bytes.span.extracting(half...), of: .binary, isLast: true, into: &output)
    } catch {
        check(false, "\(error)")
    }
    sender.close(at: .zero, into: &output)
    var sent: [UInt8] = []
    sent.append(copying: output.bytes)
    let read = setup.read(sent, by: 1 + half)
    let end = WebSocketEvent.closed(WebSocketEnd(.normal, cause: .peer))
    let message: WebSocketEvent =
        setup.options.deliversPieces
        ? .piece(WebSocketPiece(.binary, bytes, isLast: true)) : .message(.binary(bytes))
    check(read.events == [message, message, end], "\(read.events)")
}

/// An offer that is read is written and read again, and its answer is accepted.
private func checkField(_ bytes: [UInt8]) {
    let text = String(decoding: bytes.prefix(300), as: UTF8.self)
    for offer in DeflateExtension.offers(in: [text]) ?? [] {
        check(DeflateExtension.offers(in: [offer.fieldValue]) == [offer], "\(offer)")
        guard let server = DeflateExtension.accept([offer]) else { fatalError("no answer") }
        do throws(WebSocketHandshakeError) {
            let client = try DeflateExtension(
                answer: [server.fieldValue(answering: offer)], to: offer)
            check(client == server, "\(offer)")
        } catch {
            check(false, "\(error) for \(offer)")
        }
    }
}
