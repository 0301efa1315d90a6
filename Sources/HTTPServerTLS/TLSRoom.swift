internal import CTLSShims
internal import Synchronization
internal import ToolkitSystem

/// The buffers that all encrypted connections of a loop share, and the order of their handshakes.
/// Confined to the loop.
@safe
final class TLSRoom: @unchecked Sendable {
    /// Ciphertext of one read.
    static let inputSize = 64 << 10
    /// Bytes of a file that are encrypted at once.
    static let fileSize = 256 << 10
    /// Handshakes that may make a step before the other events of the loop get their turn. A step
    /// takes up to half a millisecond, in which no other connection is served.
    static let stepsInTurn = 2
    /// How many handshakes may wait before the closed ones among them are removed.
    static let leastWaitingLimit = 64

    /// A handshake that waits for its turn. Only its connection holds the transport, so a closed
    /// one takes no memory.
    struct Waiting {
        weak var transport: TLSTransport?
    }

    let shared: UnsafeMutablePointer<http_tls_room>
    let input: UnsafeMutableRawBufferPointer
    /// For files; there once one was sent.
    private var fileRoom: UnsafeMutableRawBufferPointer?
    private var steps = 0
    private(set) var waiting = FirstInFirstOut<Waiting>()
    /// The count at which the closed ones are removed.
    private var waitingLimit = TLSRoom.leastWaitingLimit
    private var hasTurn = false
    /// How many connections there are; any thread may ask.
    private let connections = Atomic<Int>(0)
    var isUsed: Bool { connections.load(ordering: .relaxed) > 0 }

    /// The facts of the last handshake: those of most clients are the same.
    private var lastInfo: Shared<TLSInfo>?

    func opened() { connections.add(1, ordering: .relaxed) }
    func closed() { connections.subtract(1, ordering: .relaxed) }

    init() {
        unsafe shared = .allocate(capacity: 1)
        unsafe shared.initialize(to: http_tls_room())
        unsafe input = .allocate(byteCount: Self.inputSize, alignment: 16)
    }

    deinit {
        unsafe http_tls_room_empty(shared)
        unsafe shared.deallocate()
        unsafe input.deallocate()
        unsafe fileRoom?.deallocate()
    }

    var file: UnsafeMutableRawBufferPointer {
        if let fileRoom = unsafe fileRoom { return unsafe fileRoom }
        let made = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.fileSize, alignment: 16)
        unsafe fileRoom = made
        return unsafe made
    }

    // MARK: Input

    /// Has OpenSSL read the first `count` bytes of `input`.
    func offer(_ count: Int) {
        unsafe shared.pointee.input = UnsafePointer(
            input.baseAddress?.assumingMemoryBound(to: UInt8.self))
        unsafe shared.pointee.input_count = count
    }

    /// Has bytes read that were left before.
    func offer(_ bytes: [UInt8]) {
        if !bytes.isEmpty { unsafe input.copyBytes(from: bytes) }
        offer(bytes.count)
    }

    /// The received ciphertext that is not decrypted yet.
    var unread: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(
            start: shared.pointee.input, count: shared.pointee.input_count)
    }

    /// Takes bytes off the front of `unread`; they may be changed.
    func takeFirst(_ count: Int) -> UnsafeMutableRawBufferPointer {
        let first = unsafe UnsafeMutableRawBufferPointer(
            start: UnsafeMutableRawPointer(mutating: shared.pointee.input), count: count)
        unsafe shared.pointee.input += count
        unsafe shared.pointee.input_count -= count
        return unsafe first
    }

    /// Reads behind what is left.
    func fill(from transport: any Transport) -> IOResult {
        let rest = unsafe unread
        unsafe input.copyMemory(from: rest)
        let result = unsafe transport.receive(
            into: UnsafeMutableRawBufferPointer(rebasing: input[rest.count...]))
        if case .done(let count) = result { offer(rest.count + count) } else { offer(rest.count) }
        return result
    }

    /// Whether OpenSSL has not read all of it.
    var hasInput: Bool { unsafe shared.pointee.input_count > 0 }

    /// Takes back the bytes that OpenSSL has not read.
    func takeRest() -> [UInt8] {
        let count = unsafe shared.pointee.input_count
        guard count > 0 else { return [] }
        let rest = unsafe Array(UnsafeBufferPointer(start: shared.pointee.input, count: count))
        unsafe shared.pointee.input_count = 0
        return rest
    }

    // MARK: Output

    /// The ciphertext that OpenSSL has written since `clearOutput`.
    var output: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(
            start: shared.pointee.output, count: shared.pointee.output_count)
    }

    /// How many records the output is.
    func countRecords() -> Int {
        let bytes = unsafe output
        var count = 0
        var start = 0
        while start + RecordLayer.headerSize <= bytes.count {
            let length = unsafe Int(bytes[start + 3]) << 8 | Int(bytes[start + 4])
            start += RecordLayer.headerSize + length
            count += 1
        }
        return count
    }

    /// Appends ciphertext that was made before.
    func append(_ bytes: [UInt8]) -> Bool {
        unsafe http_tls_room_append(shared, bytes, bytes.count) != 0
    }

    func clearOutput() { dropOutput(after: 0) }

    func dropOutput(after count: Int) { unsafe shared.pointee.output_count = count }

    // MARK: Handshakes

    /// One object for connections of which the same is known.
    func shared(_ info: TLSInfo) -> Shared<TLSInfo> {
        // A certificate must not be kept when its connection is gone.
        guard info.peerCertificate == nil else { return Shared(info) }
        if let lastInfo, lastInfo.value == info { return lastInfo }
        let new = Shared(info)
        lastInfo = new
        return new
    }

    /// Asks for a step of a handshake. When others have had theirs, the transport gets its turn by
    /// `TLSTransport.takeTurn`.
    func admitsStep(of transport: TLSTransport, _ owner: any TransportOwner) -> Bool {
        guard steps < Self.stepsInTurn else {
            if waiting.count >= waitingLimit { dropClosed() }
            waiting.append(Waiting(transport: transport))
            return false
        }
        steps += 1
        scheduleTurn(owner)
        return true
    }

    /// Clients that connect and close may come faster than turns empty the queue.
    private func dropClosed() {
        var open = FirstInFirstOut<Waiting>()
        while let next = waiting.popFirst() {
            if next.transport?.owner != nil { open.append(next) }
        }
        waiting = open
        waitingLimit = max(Self.leastWaitingLimit, 2 * open.count)
    }

    private func scheduleTurn(_ owner: any TransportOwner) {
        guard !hasTurn else { return }
        hasTurn = true
        owner.later { [self, owner = LoopConfined(owner)] in turn(owner.value) }
    }

    private func turn(_ owner: any TransportOwner) {
        hasTurn = false
        steps = 0
        var count = Self.stepsInTurn
        while count > 0, let next = waiting.popFirst() {
            // Closed ones use up no turn.
            if next.transport?.takeTurn() == true { count -= 1 }
        }
        if !waiting.isEmpty { scheduleTurn(owner) }
    }
}

/// A value that goes from its loop to the same loop.
struct LoopConfined<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
