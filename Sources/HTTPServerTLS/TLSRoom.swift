internal import CTLSShims
internal import Synchronization
internal import ToolkitSystem

/// The buffers that all encrypted connections of a loop share, and the queue of their handshakes.
/// Confined to the loop.
@safe
final class TLSRoom: @unchecked Sendable {
    /// The most bytes of ciphertext in one read.
    static let inputSize = 64 << 10
    /// The bytes of a file that are encrypted in one batch.
    static let fileSize = 256 << 10
    /// The most handshake steps before other events of the loop are handled. A step takes up to
    /// half a millisecond, in which no other connection is served.
    static let stepsInTurn = 2
    /// The least number of waiting handshakes at which closed ones are removed.
    static let leastWaitingLimit = 64

    /// A handshake that waits for its turn. Only its connection keeps the transport, so a closed
    /// transport uses no memory.
    struct Waiting {
        weak var transport: TLSTransport?
    }

    let shared: UnsafeMutablePointer<http_tls_room>
    let input: UnsafeMutableRawBufferPointer
    /// The buffer for files; allocated when the first file is sent.
    private var fileRoom: UnsafeMutableRawBufferPointer?
    private var steps = 0
    private(set) var waiting = FirstInFirstOut<Waiting>()
    /// The number of waiting handshakes at which closed ones are removed.
    private var waitingLimit = TLSRoom.leastWaitingLimit
    private var hasTurn = false
    /// The number of connections; readable from any thread.
    private let connections = Atomic<Int>(0)
    var isUsed: Bool { connections.load(ordering: .relaxed) > 0 }

    /// The properties of the last handshake, shared because those of most clients are equal.
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

    /// Makes the first `count` bytes of `input` the input of OpenSSL or the record layer.
    func offer(_ count: Int) {
        unsafe shared.pointee.input = UnsafePointer(
            input.baseAddress?.assumingMemoryBound(to: UInt8.self))
        unsafe shared.pointee.input_count = count
    }

    /// Makes bytes of an earlier read the input.
    func offer(_ bytes: [UInt8]) {
        if !bytes.isEmpty { unsafe input.copyBytes(from: bytes) }
        offer(bytes.count)
    }

    /// The received ciphertext that is not decrypted yet.
    var unread: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(
            start: shared.pointee.input, count: shared.pointee.input_count)
    }

    /// Removes the first bytes of `unread` and returns them. The caller may overwrite them.
    func takeFirst(_ count: Int) -> UnsafeMutableRawBufferPointer {
        let first = unsafe UnsafeMutableRawBufferPointer(
            start: UnsafeMutableRawPointer(mutating: shared.pointee.input), count: count)
        unsafe shared.pointee.input += count
        unsafe shared.pointee.input_count -= count
        return unsafe first
    }

    /// Moves the unread bytes to the start of the buffer, and reads more after them.
    func fill(from transport: any Transport) -> IOResult {
        let rest = unsafe unread
        unsafe input.copyMemory(from: rest)
        let result = unsafe transport.receive(
            into: UnsafeMutableRawBufferPointer(rebasing: input[rest.count...]))
        if case .done(let count) = result { offer(rest.count + count) } else { offer(rest.count) }
        return result
    }

    /// Whether some input is unread.
    var hasInput: Bool { unsafe shared.pointee.input_count > 0 }

    /// Removes the unread bytes of the input and returns a copy of them.
    func takeRest() -> [UInt8] {
        let count = unsafe shared.pointee.input_count
        guard count > 0 else { return [] }
        let rest = unsafe Array(UnsafeBufferPointer(start: shared.pointee.input, count: count))
        unsafe shared.pointee.input_count = 0
        return rest
    }

    // MARK: Output

    /// The ciphertext that was written since `clearOutput`.
    var output: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(
            start: shared.pointee.output, count: shared.pointee.output_count)
    }

    /// The number of records in the output.
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
    /// - Returns: `false` without memory.
    func append(_ bytes: [UInt8]) -> Bool {
        unsafe http_tls_room_append(shared, bytes, bytes.count) != 0
    }

    func clearOutput() { dropOutput(after: 0) }

    func dropOutput(after count: Int) { unsafe shared.pointee.output_count = count }

    // MARK: Handshakes

    /// The same object for successive connections with equal properties, to save memory.
    func shared(_ info: TLSInfo) -> Shared<TLSInfo> {
        // A certificate must not be kept after its connection was closed.
        guard info.peerCertificate == nil else { return Shared(info) }
        if let lastInfo, lastInfo.value == info { return lastInfo }
        let new = Shared(info)
        lastInfo = new
        return new
    }

    /// Whether a handshake may make a step now. If not, the transport is queued, and
    /// `TLSTransport.takeTurn` is called later.
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

    /// Removes closed connections from the queue: clients that connect and disconnect may fill it
    /// faster than turns empty it.
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
            // A closed connection does not use up a step.
            if next.transport?.takeTurn() == true { count -= 1 }
        }
        if !waiting.isEmpty { scheduleTurn(owner) }
    }
}

/// A value that is passed from a loop to the same loop.
struct LoopConfined<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
