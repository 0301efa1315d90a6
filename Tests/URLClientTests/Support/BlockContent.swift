import Foundation
import HTTPCodecs

/// Content of any length that is never in memory as a whole: blocks, each of which begins with its
/// number.
struct BlockContent: Sendable {
    static let blockSize = 64 << 10
    private static let block = TestServer.pattern(blockSize)

    let count: Int

    /// The bytes from an offset to the end of its block.
    func piece(at offset: Int) -> ArraySlice<UInt8> {
        let number = offset / Self.blockSize
        var block = Self.block
        for index in 0..<8 { block[index] = UInt8(truncatingIfNeeded: number >> (index * 8)) }
        let start = offset % Self.blockSize
        return block[start..<(start + min(Self.blockSize - start, count - offset))]
    }

    /// Sends the bytes from an offset on.
    /// - Returns: false if the other side has closed the connection.
    @discardableResult
    func send(from start: Int, upTo end: Int? = nil, to connection: PeerConnection) -> Bool {
        var offset = start
        let end = min(end ?? count, count)
        while offset < end {
            let piece = piece(at: offset).prefix(end - offset)
            guard connection.send(Array(piece)) else { return false }
            offset += piece.count
        }
        return true
    }

    /// Whether a file contains exactly this content.
    func isWhole(in path: String) -> Bool {
        guard let file = FileHandle(forReadingAtPath: path) else { return false }
        defer { try? file.close() }
        var offset = 0
        while offset < count {
            let wanted = Data(piece(at: offset))
            guard (try? file.read(upToCount: wanted.count)) == wanted else { return false }
            offset += wanted.count
        }
        return (try? file.readToEnd() ?? Data())?.isEmpty == true
    }
}
