import HTTPParser
import WebSocketFrames

/// A frame that is built and read in a simple way, independently of the tested code.
struct PlainFrame: Hashable {
    var opcode: UInt8
    var isFinal = true
    var reserved: UInt8 = 0
    var payload: [UInt8] = []

    static func text(_ text: String, isFinal: Bool = true) -> PlainFrame {
        PlainFrame(opcode: 1, isFinal: isFinal, payload: Array(text.utf8))
    }
    static func text(_ bytes: [UInt8], isFinal: Bool = true) -> PlainFrame {
        PlainFrame(opcode: 1, isFinal: isFinal, payload: bytes)
    }
    static func binary(_ bytes: [UInt8], isFinal: Bool = true) -> PlainFrame {
        PlainFrame(opcode: 2, isFinal: isFinal, payload: bytes)
    }
    static func continuation(_ text: String, isFinal: Bool = true) -> PlainFrame {
        PlainFrame(opcode: 0, isFinal: isFinal, payload: Array(text.utf8))
    }
    static func continuation(_ bytes: [UInt8], isFinal: Bool = true) -> PlainFrame {
        PlainFrame(opcode: 0, isFinal: isFinal, payload: bytes)
    }
    static func ping(_ text: String = "") -> PlainFrame {
        PlainFrame(opcode: 9, payload: Array(text.utf8))
    }
    static func pong(_ text: String = "") -> PlainFrame {
        PlainFrame(opcode: 10, payload: Array(text.utf8))
    }
    static func close(_ code: Int? = 1000, _ reason: [UInt8] = []) -> PlainFrame {
        let number = code.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? []
        return PlainFrame(opcode: 8, payload: number + reason)
    }

    /// A frame with an opcode that is not registered.
    static let reserved = PlainFrame(opcode: 3)

    func reserving(_ bits: UInt8) -> PlainFrame {
        var frame = self
        frame.reserved = bits
        return frame
    }

    /// The bytes of the frame as a client or a server sends it.
    func bytes(by sender: WebSocketRole, mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]) -> [UInt8] {
        var bytes: [UInt8] = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode]
        let count = payload.count
        let bit: UInt8 = sender == .client ? 0x80 : 0
        if count < 126 {
            bytes.append(bit | UInt8(count))
        } else if count < 65_536 {
            bytes += [bit | 126, UInt8(count >> 8), UInt8(count & 0xFF)]
        } else {
            bytes.append(bit | 127)
            for shift in (0..<8).reversed() { bytes.append(UInt8(count >> (shift * 8) & 0xFF)) }
        }
        guard sender == .client else { return bytes + payload }
        return bytes + mask + payload.enumerated().map { $0.element ^ mask[$0.offset % 4] }
    }

    /// All frames of a stream, whose last frame must be complete.
    static func read(_ bytes: [UInt8]) -> [PlainFrame] {
        var (frames, index) = ([PlainFrame](), 0)
        func number(_ count: Int) -> Int {
            defer { index += count }
            return bytes[index..<(index + count)].reduce(0) { $0 << 8 | Int($1) }
        }
        while index < bytes.count {
            let first = bytes[index]
            let second = bytes[index + 1]
            index += 2
            var count = Int(second & 0x7F)
            if count == 126 { count = number(2) } else if count == 127 { count = number(8) }
            var mask: [UInt8] = [0, 0, 0, 0]
            if second & 0x80 != 0 {
                mask = Array(bytes[index..<(index + 4)])
                index += 4
            }
            let payload = bytes[index..<(index + count)].enumerated().map {
                $0.element ^ mask[$0.offset % 4]
            }
            index += count
            frames.append(
                PlainFrame(
                    opcode: first & 15, isFinal: first & 0x80 != 0, reserved: first >> 4 & 7,
                    payload: payload))
        }
        return frames
    }
}

extension [PlainFrame] {
    func bytes(by sender: WebSocketRole) -> [UInt8] { flatMap { $0.bytes(by: sender) } }
}

/// The events of a machine, and the frames that it wrote.
struct Outcome: Equatable, CustomStringConvertible {
    var events: [WebSocketEvent] = []
    var written: [PlainFrame] = []

    /// One word for each event, then the written close code.
    var description: String {
        var words = events.map(\.word)
        if let close = written.first(where: { $0.opcode == 8 }) {
            let code = close.payload.prefix(2).reduce(0) { $0 << 8 | Int($1) }
            words.append(close.payload.isEmpty ? "wrote-close" : "wrote-\(code)")
        }
        return words.joined(separator: " ")
    }

    /// The pieces of each message are joined to its last piece, because their cuts depend on the
    /// cuts of the input.
    var joined: Outcome {
        var outcome = Outcome(written: written)
        for event in events {
            guard case .piece(var piece) = event,
                let index = outcome.events.lastIndex(where: \.isUnfinishedPiece),
                case .piece(let start) = outcome.events.remove(at: index)
            else {
                outcome.events.append(event)
                continue
            }
            piece.bytes = start.bytes + piece.bytes
            outcome.events.append(.piece(piece))
        }
        // Before a failure, the number of delivered pieces depends on the cuts.
        if case .closed = outcome.events.last {
            outcome.events.removeAll(where: \.isUnfinishedPiece)
        }
        return outcome
    }
}

extension WebSocketEvent {
    fileprivate var isUnfinishedPiece: Bool {
        if case .piece(let piece) = self { !piece.isLast } else { false }
    }
}

extension WebSocketEvent {
    fileprivate var word: String {
        switch self {
        case .message(.text(let text)): "text(\(text.count > 20 ? "\(text.utf8.count)" : text))"
        case .message(.binary(let bytes)): "binary(\(bytes.count))"
        case .piece(let piece): "piece(\(piece.bytes.count), \(piece.isLast))"
        case .ping(let bytes): "ping(\(bytes.count))"
        case .pong(let bytes): "pong(\(bytes.count))"
        case .closed(let end): "\(end.cause.word)-\(end.code)"
        }
    }
}

extension WebSocketEnd.Cause {
    fileprivate var word: String {
        switch self {
        case .peer: "peer"
        case .local: "local"
        case .failure(let error): error.kind.rawValue
        case .transport: "transport"
        }
    }
}

extension WebSocketMachine {
    /// Feeds bytes, and returns all events up to their end.
    mutating func receive(
        _ bytes: [UInt8], at now: Duration = .zero, into output: inout ByteBuffer
    ) -> [WebSocketEvent] {
        var (bytes, position, events) = (bytes, 0, [WebSocketEvent]())
        unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            var span = unsafe MutableSpan(_unsafeElements: buffer)
            while let event = next(&span, from: &position, at: now, into: &output) {
                events.append(event)
            }
        }
        precondition(position == bytes.count, "bytes left")
        return events
    }

    /// Feeds a stream in pieces to a new machine.
    static func outcome(
        of pieces: [ArraySlice<UInt8>], to role: WebSocketRole = .server,
        deflate: DeflateExtension? = nil, options: WebSocketOptions = WebSocketOptions()
    ) -> Outcome {
        var machine = WebSocketMachine(role: role, deflate: deflate, options: options, at: .zero)
        var output = ByteBuffer()
        var outcome = Outcome()
        for piece in pieces { outcome.events += machine.receive(Array(piece), into: &output) }
        outcome.written = PlainFrame.read(output.content)
        return outcome
    }

    /// The outcome of a stream, and how it differs if the stream is fed byte by byte or cut in two
    /// at each place (a long one at 200 places).
    static func checkedOutcome(
        of bytes: [UInt8], to role: WebSocketRole = .server, deflate: DeflateExtension? = nil,
        options: WebSocketOptions = WebSocketOptions()
    ) -> (outcome: Outcome, disagreement: String?) {
        func fed(_ pieces: [ArraySlice<UInt8>]) -> Outcome {
            outcome(of: pieces, to: role, deflate: deflate, options: options).joined
        }
        let whole = fed([bytes[...]])
        let single = fed(bytes.indices.map { bytes[$0...$0] })
        if single != whole { return (whole, "byte by byte: \(single)") }
        for cut in stride(from: 0, through: bytes.count, by: max(1, bytes.count / 200)) {
            let split = fed([bytes[..<cut], bytes[cut...]])
            if split != whole { return (whole, "cut at \(cut): \(split)") }
        }
        return (whole, nil)
    }
}

extension ByteBuffer {
    /// A copy of the bytes.
    var content: [UInt8] {
        var content: [UInt8] = []
        content.append(copying: bytes)
        return content
    }
}
