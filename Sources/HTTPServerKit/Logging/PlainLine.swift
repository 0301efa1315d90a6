internal import HTTPParser
internal import HTTPServerCore

/// The fast path for a line of the combined format with an IPv4 peer, without a user and without
/// text that needs escapes. Most requests have such a line.
enum PlainLine {
    /// - Returns: whether the line was written; `false` for all other lines.
    static func append(
        _ record: AccessRecord, to line: inout ByteBuffer, _ clock: inout LogClock
    ) -> Bool {
        guard let head = record.storage else { return false }
        let connection = record.connection
        // The values of a request may name another peer, or a user.
        let hasValues = head.valuesIfMade != nil
        let address = hasValues ? record.peerAddress : connection.peerAddress
        guard let peer = address.ipv4Bytes, connection.security?.peerCertificate == nil,
            !hasValues || record.user == nil
        else { return false }
        let target = unsafe head.head.targetBytes
        let referer = unsafe value(of: .referer, head)
        let agent = unsafe value(of: .userAgent, head)
        guard unsafe isPlain(target), unsafe isPlain(referer), unsafe isPlain(agent) else {
            return false
        }
        var date = clock.commonLog(secondsSinceEpoch: record.time / 1_000_000_000)
        var method = head.head.method.name
        let count = target.count + referer.count + agent.count + method.utf8.count
        unsafe line.withRoom(count + 160) { room in
            var cursor = unsafe Cursor(room)
            putPeer(peer, &cursor)
            cursor.put(" - - [")
            date.withUTF8 { unsafe cursor.put(UnsafeRawBufferPointer($0)) }
            cursor.put("] \"")
            method.withUTF8 { unsafe cursor.put(UnsafeRawBufferPointer($0)) }
            cursor.put(" ")
            unsafe cursor.put(target)
            cursor.put(head.head.version.minor == 0 ? " HTTP/1.0\" " : " HTTP/1.1\" ")
            cursor.put(UInt64(record.status.code))
            cursor.put(" ")
            cursor.put(UInt64(clamping: record.contentBytes))
            cursor.put(" \"")
            if referer.count > 0 { unsafe cursor.put(referer) } else { cursor.put("-") }
            cursor.put("\" \"")
            if agent.count > 0 { unsafe cursor.put(agent) } else { cursor.put("-") }
            cursor.put("\"")
            return cursor.count
        }
        return true
    }

    private static func putPeer(
        _ peer: (UInt8, UInt8, UInt8, UInt8), _ cursor: inout Cursor
    ) {
        cursor.put(UInt64(peer.0))
        cursor.put(".")
        cursor.put(UInt64(peer.1))
        cursor.put(".")
        cursor.put(UInt64(peer.2))
        cursor.put(".")
        cursor.put(UInt64(peer.3))
    }

    /// The value of a field; empty if it is missing.
    private static func value(
        of name: HTTPFieldName, _ storage: Request.Storage
    ) -> UnsafeRawBufferPointer {
        let table = unsafe storage.head.table
        guard let index = unsafe table.index(of: name) else {
            return unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return unsafe table.value(index)
    }

    /// Whether the bytes need no escapes. No branch depends on a byte, so that the compiler can
    /// vectorize the loop.
    private static func isPlain(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var odd: UInt8 = 0
        for index in 0..<bytes.count {
            let byte = unsafe bytes[index]
            // A byte below the space, or from DEL on.
            odd |= byte &- 0x20 >= 0x5F ? 1 : 0
            odd |= byte == 0x22 ? 1 : 0
            odd |= byte == 0x5C ? 1 : 0
        }
        return odd == 0
    }
}

/// Writes to memory without bounds checks: the caller has reserved enough.
@safe
private struct Cursor {
    private let base: UnsafeMutableRawPointer
    private(set) var count = 0

    /// - Parameter room: the memory to write to; not empty.
    init(_ room: UnsafeMutableRawBufferPointer) {
        unsafe base = room.baseAddress.unsafelyUnwrapped
    }

    @inline(__always)
    mutating func put(_ text: StaticString) {
        let length = text.utf8CodeUnitCount
        unsafe (base + count).copyMemory(from: text.utf8Start, byteCount: length)
        count += length
    }

    @inline(__always)
    mutating func put(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        unsafe (base + count).copyMemory(from: start, byteCount: bytes.count)
        count += bytes.count
    }

    mutating func put(_ number: UInt64) {
        var (rest, length) = (number, 1)
        while rest >= 10 {
            rest /= 10
            length += 1
        }
        rest = number
        count += length
        for position in stride(from: count - 1, through: count - length, by: -1) {
            let digit = UInt8(truncatingIfNeeded: 0x30 + rest % 10)
            unsafe base.storeBytes(of: digit, toByteOffset: position, as: UInt8.self)
            rest /= 10
        }
    }
}
