internal import HTTPParser
internal import Synchronization

/// A stream of multipart content, with the position that its parts share.
///
/// A reader sets `isBusy` first and has exclusive access until it clears the flag. This makes the
/// type safe to send; a second reader gets an error and does not wait.
final class PartStream: @unchecked Sendable {
    private let isBusy = Atomic(false)
    private var parser: PartParser
    private let source: PieceSource
    /// The bytes not read yet begin at `position`.
    private var bytes: [UInt8] = []
    private var position = 0
    /// The number of the last part that was returned, from 1.
    private var number = 0
    private var isInPart = false
    private var isAtEnd = false
    private var failure: (any Error)?

    init(_ parser: consuming PartParser, _ source: PieceSource) {
        self.parser = parser
        self.source = source
    }

    /// The offset of the part's content; only the reader uses it.
    var contentOffset: Int64 { parser.contentOffset }

    /// Skips the rest of the part, and reads the head of the next.
    func nextPart() async throws -> MultipartPart? {
        try begin()
        defer { end() }
        while !isAtEnd {
            switch try await step() {
            case .part(let head):
                number += 1
                isInPart = true
                return MultipartPart(head: head, number: number, stream: self)
            case .partEnd: isInPart = false
            case .content, .end: continue
            case .more: isAtEnd = true
            }
        }
        return nil
    }

    /// Reads content of the last part that was returned; `nil` after its last piece.
    func nextPiece(ofPart wanted: Int) async throws -> [UInt8]? {
        try begin()
        defer { end() }
        guard wanted == number, !isAtEnd else { throw MultipartUseError.partIsOver }
        guard isInPart else { throw MultipartUseError.alreadyRead }
        guard case .content(let range) = try await step() else {
            isInPart = false
            return nil
        }
        return takePiece(range)
    }

    private func begin() throws {
        let (wasFree, _) = isBusy.compareExchange(
            expected: false, desired: true, ordering: .acquiringAndReleasing)
        guard wasFree else { throw MultipartUseError.concurrentReading }
        guard let failure else { return }
        end()
        throw failure
    }

    private func end() {
        isBusy.store(false, ordering: .releasing)
    }

    /// The next step that is not `.more`; `.more` if the stream has ended properly.
    private func step() async throws -> PartParser.Step {
        do {
            while true {
                let step = try parser.next(bytes.span, from: &position)
                guard step == .more else { return step }
                guard let piece = try await source.next() else {
                    try parser.finish()
                    return .more
                }
                refill(piece)
            }
        } catch {
            failure = error
            throw error
        }
    }

    /// Usually all bytes were read, and the piece replaces them without a copy.
    private func refill(_ piece: [UInt8]) {
        if position == bytes.count {
            bytes = piece
        } else {
            bytes.removeSubrange(..<position)
            bytes += piece
        }
        position = 0
    }

    /// Usually all of the bytes are content, and are returned without a copy.
    private func takePiece(_ range: Range<Int>) -> [UInt8] {
        guard range == bytes.indices else { return Array(bytes[range]) }
        defer {
            bytes = []
            position = 0
        }
        return bytes
    }
}

/// A type-erased stream of bytes.
class PieceSource {
    func next() async throws -> [UInt8]? { nil }
}

final class PieceIterator<Pieces: AsyncSequence>: PieceSource where Pieces.Element == [UInt8] {
    private var iterator: Pieces.AsyncIterator

    init(_ pieces: Pieces) {
        iterator = pieces.makeAsyncIterator()
    }

    override func next() async throws -> [UInt8]? {
        try await iterator.next(isolation: #isolation)
    }
}
