internal import Dispatch
internal import Synchronization
internal import ToolkitSystem

extension NetworkInterface {
    /// The present interfaces, and again whenever an interface, its addresses or its flags have
    /// changed.
    ///
    /// The system reports changes; nothing is polled. Changes within a tenth of a second, as when a
    /// network is joined, are reported together. A slow reader gets only the newest list. All
    /// streams of the process share one socket, which is closed when the last stream ends. A stream
    /// ends when its task is cancelled, or after the first list if the system does not let this
    /// process listen for changes.
    public static func changes() -> AsyncStream<[NetworkInterface]> {
        InterfaceMonitor.shared.lists()
    }
}

/// Watches for changes of the network interfaces while a stream is read.
///
/// All state is confined to the queue.
package final class InterfaceMonitor: @unchecked Sendable {
    package static let shared = InterfaceMonitor()

    private typealias Lists = AsyncStream<[NetworkInterface]>

    private let queue = DispatchQueue(label: "http.interfaces")
    private let pause: DispatchTimeInterval
    private var readers: [Int: Lists.Continuation] = [:]
    private let nextReader = Atomic<Int>(0)
    private var source: (any DispatchSourceRead)?
    private var descriptor: CInt = -1
    private var last: [NetworkInterface] = []
    private var isPublishing = false
    private var room = [UInt8](repeating: 0, count: 32 << 10)

    /// - Parameter pause: the time in milliseconds whose changes are reported together.
    package init(pause: Int = 100) {
        self.pause = .milliseconds(pause)
    }

    package func lists() -> AsyncStream<[NetworkInterface]> {
        let (stream, continuation) = Lists.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number = nextReader.wrappingAdd(1, ordering: .relaxed).newValue
        // Set before the stream can end, because a later handler would not be called.
        continuation.onTermination = { _ in self.queue.async { self.remove(number) } }
        queue.async { self.add(continuation, number) }
        return stream
    }

    /// Whether the socket is open.
    package var isListening: Bool { queue.sync { source != nil } }

    private func add(_ reader: Lists.Continuation, _ number: Int) {
        // The socket is opened first, so that changes after the list is read are not missed.
        let listening = startListening()
        let interfaces = list()
        // An empty list because of missing descriptors or memory would mean that there is no
        // network.
        if interfaces != nil || !last.isEmpty || listening == .never {
            reader.yield(interfaces ?? last)
        }
        guard listening != .never else { return reader.finish() }
        // Older readers get the list, too, because the next list is compared with it. Otherwise a
        // change that is undone before the next list would be lost for the new reader.
        if let interfaces, interfaces != last {
            last = interfaces
            for older in readers.values { older.yield(interfaces) }
        }
        readers[number] = reader
        if interfaces == nil || listening == .later { publishSoon(after: .seconds(1)) }
    }

    /// The interfaces; nil if they cannot be listed now, for example without a free descriptor.
    private func list() -> [NetworkInterface]? {
        do throws(SystemError) {
            return try NetworkInterface.all()
        } catch {
            return nil
        }
    }

    private func remove(_ number: Int) {
        readers[number] = nil
        guard readers.isEmpty else { return }
        source?.cancel()
        source = nil
        descriptor = -1
    }

    private enum Listening {
        case begun
        /// No descriptor or memory is free now.
        case later
        case never
    }

    private func startListening() -> Listening {
        guard source == nil else { return .begun }
        let descriptor: CInt
        do throws(SystemError) {
            descriptor = try Syscalls.openInterfaceChanges()
        } catch {
            return error.isExhausted ? .later : .never
        }
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { @Sendable [weak self] in self?.read() }
        source.setCancelHandler { @Sendable in Syscalls.close(descriptor) }
        source.activate()
        self.source = source
        self.descriptor = descriptor
        return .begun
    }

    private func read() {
        // Bounded, so that a flood does not block the queue: the source fires again.
        for _ in 0..<64 {
            let result = unsafe room.withUnsafeMutableBytes { room in
                unsafe Syscalls.receiveInterfaceChange(descriptor, room)
            }
            switch result {
            case .done(let count):
                if InterfaceMessages.tellOfChange(room[..<count]) { publishSoon() }
            case .wouldBlock: return
            case .failed:
                // The kernel has dropped messages, which may have been changes.
                publishSoon()
                return
            }
        }
    }

    private func publishSoon(after pause: DispatchTimeInterval? = nil) {
        guard !isPublishing else { return }
        isPublishing = true
        queue.asyncAfter(deadline: .now() + (pause ?? self.pause)) { self.publish() }
    }

    private func publish() {
        isPublishing = false
        guard !readers.isEmpty else { return }
        let listening = startListening()
        let interfaces = list()
        // Retries, so that neither this change nor later ones are lost.
        let isAgain = listening != .never && (interfaces == nil || listening == .later)
        if isAgain { publishSoon(after: .seconds(1)) }
        if let interfaces, interfaces != last {
            last = interfaces
            for reader in readers.values { reader.yield(interfaces) }
        }
        if listening == .never { for reader in readers.values { reader.finish() } }
    }
}
