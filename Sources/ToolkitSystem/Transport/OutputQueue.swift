#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Output that the peer has not accepted yet: bytes and file ranges, in order.
package struct OutputQueue {
    private enum Item {
        case bytes([UInt8], sent: Int)
        case file(OpenFile, offset: Int64, count: Int64)
    }

    /// The result of an attempt to send.
    package enum Progress: Equatable {
        /// No output is left.
        case empty
        /// The peer takes no more now.
        case blocked
        /// The connection is lost.
        case failed
        /// A file is shorter than announced, or cannot be read, so its content stays incomplete.
        case fileFailed
    }

    /// Bytes that are sent before other connections are served: about 100 microseconds. A lower
    /// number would cost files a system call and two changes of polling for each further turn.
    private static let turn: Int64 = 1 << 20
    /// Pieces shorter than this number of bytes are joined, so that many short pieces need no more
    /// memory than their bytes.
    private static let joined = 4 << 10

    private var items: [Item] = []
    private var first = 0
    /// Waiting bytes in memory.
    package private(set) var buffered = 0
    /// Waiting bytes, in memory and of files.
    package private(set) var waiting: Int64 = 0

    package var isEmpty: Bool { waiting == 0 }
    /// How many pieces are kept, including sent ones.
    package var keptItems: Int { items.count }

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 0 else { return }
        unsafe append(Array(bytes))
    }

    package init() {}

    package mutating func append(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        if bytes.count < Self.joined, first + 1 < items.count,
            case .bytes(var last, sent: 0) = items[items.count - 1], last.count < Self.joined
        {
            // Remove the piece first, so that changing it does not copy it.
            items[items.count - 1] = .bytes([], sent: 0)
            last += bytes
            items[items.count - 1] = .bytes(last, sent: 0)
        } else {
            items.append(.bytes(bytes, sent: 0))
        }
        buffered += bytes.count
        waiting += Int64(bytes.count)
    }

    package mutating func append(_ file: OpenFile, offset: Int64, count: Int64) {
        guard count > 0 else { return }
        items.append(.file(file, offset: offset, count: count))
        waiting += count
    }

    package mutating func removeAll() {
        items = []
        first = 0
        buffered = 0
        waiting = 0
    }

    /// Sends as much as the transport takes.
    /// - Returns: the result, and the number of bytes sent.
    package mutating func send(to transport: any Transport) -> (Progress, Int64) {
        var total: Int64 = 0
        while first < items.count {
            // A peer that reads as fast as we send must not delay the other connections.
            guard total < Self.turn else { return (.blocked, total) }
            let (result, count) = sendFirst(to: transport)
            total += count
            waiting -= count
            guard result == .empty else { return (result, total) }
        }
        items.removeAll(keepingCapacity: items.capacity <= 16)
        first = 0
        return (.empty, total)
    }

    /// Sends from the first item; `.empty` means that the next call may send more.
    private mutating func sendFirst(to transport: any Transport) -> (Progress, Int64) {
        let hasMore = first + 1 < items.count
        switch items[first] {
        case .bytes(let bytes, let sent):
            let result = unsafe bytes.withUnsafeBytes { bytes in
                unsafe transport.send(
                    UnsafeRawBufferPointer(rebasing: bytes[sent...]), more: hasMore)
            }
            guard case .done(let count) = result else { return (Self.progress(result), 0) }
            buffered -= count
            if sent + count == bytes.count {
                finishFirst()
                return (.empty, Int64(count))
            }
            items[first] = .bytes(bytes, sent: sent + count)
            return (.blocked, Int64(count))
        case .file(let file, let offset, let count):
            let part = min(count, Self.turn)
            let result = transport.sendFile(file.descriptor, offset: offset, count: part)
            // These are errors of the file; a socket never reports them.
            if case .failed(let code) = result, [EIO, ESTALE].contains(code) {
                return (.fileFailed, 0)
            }
            guard case .done(let sent) = result else { return (Self.progress(result), 0) }
            // The file is shorter than announced. Padding it would hide that.
            guard sent > 0 else { return (.fileFailed, 0) }
            if Int64(sent) == count {
                finishFirst()
                return (.empty, count)
            }
            items[first] = .file(file, offset: offset + Int64(sent), count: count - Int64(sent))
            // Fewer bytes than requested mean that the peer is slow or that the file is shorter.
            // The next attempt, when the socket is writable, shows which.
            return (Int64(sent) < part ? .blocked : .empty, Int64(sent))
        }
    }

    private mutating func finishFirst() {
        items[first] = .bytes([], sent: 0)
        first += 1
        // A stream whose reader is always a little behind never empties the queue.
        guard first >= 64, first * 2 > items.count else { return }
        items.removeFirst(first)
        first = 0
    }

    private static func progress(_ result: IOResult) -> Progress {
        result == .wouldBlock ? .blocked : .failed
    }
}
