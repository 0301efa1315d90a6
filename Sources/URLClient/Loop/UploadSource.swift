internal import HTTPCodecs
internal import ToolkitSystem

/// The content of a request while it is sent: one per transaction.
///
/// libcurl reads bytes and files directly. The pieces of a stream pass through a small buffer that a
/// Swift task fills. A request in the queue holds no descriptor: ``begin(wanted:)`` opens its file,
/// or starts its stream, once the request can be sent.
final class UploadSource: @unchecked Sendable {
    enum Answer {
        case bytes(Int)
        case paused
        case failed
    }

    private enum Kind {
        case bytes([UInt8])
        /// The path is absolute: it stays valid when the current folder changes.
        case file(path: String, start: Int64, FileStatus)
        case feed(UploadFeed)
    }

    private let kind: Kind
    /// The file, while a transfer sends it.
    private var file: OpenFile?
    /// The source of a stream's pieces, until the stream is started.
    private var pull: ClientBody.Pull?
    /// The length in bytes; nil if unknown.
    let length: Int64?
    /// How many bytes libcurl has taken.
    private(set) var position: Int64 = 0
    private(set) var failure: ClientError?

    init(_ bytes: [UInt8]) {
        kind = .bytes(bytes)
        length = Int64(bytes.count)
    }

    /// Checks that a file has the requested bytes, and closes it again.
    init(path: String, offset: Int64, count: Int64?) throws(ClientError) {
        let status = try Self.opened(path).status
        guard offset <= status.size, count ?? 0 <= status.size - offset else {
            throw ClientError(.bodyFailed, "\(path) is shorter than the requested part")
        }
        // The program may change its current folder before the file is sent.
        kind = .file(path: Syscalls.absolutePath(path), start: offset, status)
        length = count ?? (status.size - offset)
    }

    private static func opened(
        _ path: String
    ) throws(ClientError) -> (file: OpenFile, status: FileStatus) {
        do throws(SystemError) {
            return try Syscalls.openRegularFile(path)
        } catch {
            throw ClientError(.cannotOpenFile, "\(path): \(error.reason)")
        }
    }

    /// The length of a file that will be sent, in bytes.
    static func length(ofFile path: String) throws(ClientError) -> Int64 {
        try opened(path).status.size
    }

    /// The result of opening the content of a request.
    enum Opening {
        /// The content is ready; nil for a request without content.
        case ready(UploadSource?)
        case failed(ClientError)
        /// A stream, which `open` opens asynchronously.
        case stream(
            length: Int64?, open: @Sendable () async -> Result<ClientBody.Pull, ClientError>)
    }

    static func opening(of request: ClientRequest) -> Opening {
        switch request.body.content {
        case .none: return .ready(nil)
        case .bytes(let bytes) where bytes.isEmpty && request.method.givesContentNoMeaning:
            return .ready(nil)
        case .stream(length: 0, _, _) where request.method.givesContentNoMeaning:
            return .ready(nil)
        case .bytes(let bytes): return .ready(UploadSource(bytes))
        case .file(let path, let offset, let count):
            do throws(ClientError) {
                return .ready(try UploadSource(path: path, offset: offset, count: count))
            } catch {
                return .failed(error)
            }
        case .stream(let length, _, let make): return .stream(length: length) { await open(make) }
        }
    }

    private static func open(
        _ make: @Sendable () async throws -> ClientBody.Pull?
    ) async -> Result<ClientBody.Pull, ClientError> {
        do {
            guard let pull = try await make() else {
                return .failure(ClientError(.bodyNotReplayable, "a stream can be sent once"))
            }
            return .success(pull)
        } catch {
            return .failure(ClientError(.bodyFailed, "\(error)", underlying: error))
        }
    }

    /// Creates the source of a stream, from a function that returns its next piece.
    init(_ pull: @escaping ClientBody.Pull, length: Int64?) {
        kind = .feed(UploadFeed())
        self.pull = pull
        self.length = length
    }

    /// Opens the file, or starts to fetch the pieces of the stream. No effect if that is already
    /// done.
    /// - Parameter wanted: called when a piece arrives after libcurl has found none.
    func begin(wanted: @escaping @Sendable () -> Void) throws(ClientError) {
        switch kind {
        case .bytes: break
        case .file(let path, let start, let checked):
            guard file == nil else { return }
            let opened = try Self.opened(path)
            // A file that has replaced the checked one may have other content.
            guard opened.status.isSameFile(as: checked) else {
                throw ClientError(.bodyFailed, "the file has been replaced")
            }
            guard opened.status.size - start >= length ?? 0 else { throw Self.tooShort }
            file = opened.file
        case .feed(let feed):
            if let pull = pull.take() { feed.start(pull, wanted: wanted) }
        }
    }

    /// Whether libcurl has taken all content. Content of unknown length ends when its stream does.
    var isAtEnd: Bool { position == length || sawEnd }

    /// Copies the next bytes into `room`. `.bytes(0)` means the end.
    func read(into room: UnsafeMutableRawBufferPointer) -> Answer {
        if let length, position == length {
            // libcurl before 8.7 continues in the middle when it repeats a request over HTTP/2.
            guard length == 0 || !CurlFeatures.current.mayCorruptRepeatedUploads || !sawEnd else {
                return fail(ClientError(.connectionLost, "libcurl would resend only a part"))
            }
            sawEnd = true
            return .bytes(0)
        }
        let limit = length.map { Int(clamping: $0 - position) } ?? room.count
        let count = min(room.count, limit)
        switch kind {
        case .bytes(let bytes):
            unsafe bytes.withUnsafeBytes { source in
                let part = unsafe UnsafeRawBufferPointer(
                    rebasing: source[Int(position)..<(Int(position) + count)])
                unsafe room.copyMemory(from: part)
            }
            return given(count)
        case .file(_, let start, _):
            guard let file else { return fail(ClientError(.bodyFailed, "the file is closed")) }
            let part = unsafe UnsafeMutableRawBufferPointer(rebasing: room[..<count])
            do throws(SystemError) {
                let count = try unsafe file.read(at: start + position, into: part)
                return count == 0 ? fail(Self.tooShort) : given(count)
            } catch {
                return fail(ClientError(.bodyFailed, error.reason))
            }
        case .feed(let feed):
            return unsafe take(from: feed, room, limit: limit)
        }
    }

    /// Whether libcurl was notified of the end.
    private var sawEnd = false

    private func take(
        from feed: UploadFeed, _ room: UnsafeMutableRawBufferPointer, limit: Int
    ) -> Answer {
        switch unsafe feed.take(into: room) {
        case .bytes(let count):
            guard count <= limit else { return fail(Self.tooMuch) }
            // libcurl does not read beyond the announced length.
            if length != nil, count == limit, feed.hasMore() { return fail(Self.tooMuch) }
            return given(count)
        case .none: return .paused
        case .failed(let error): return fail(error)
        case .end:
            guard length == nil else {
                return fail(ClientError(.bodyFailed, "less content than announced"))
            }
            sawEnd = true
            return .bytes(0)
        }
    }

    private static var tooShort: ClientError {
        ClientError(.bodyFailed, "the file has become shorter")
    }

    private static var tooMuch: ClientError {
        ClientError(.bodyFailed, "more content than announced")
    }

    /// The error of a stream that continues after its announced length, once libcurl has taken that
    /// length; nil if no further piece has arrived.
    func excess() -> ClientError? {
        guard case .feed(let feed) = kind, length != nil, position == length, feed.hasMore() else {
            return nil
        }
        return Self.tooMuch
    }

    private func given(_ count: Int) -> Answer {
        position += Int64(count)
        return .bytes(count)
    }

    private func fail(_ error: ClientError) -> Answer {
        failure = error
        return .failed
    }

    /// Changes the position. False if the content cannot be sent again.
    func seek(to offset: Int64) -> Bool {
        if case .feed = kind { return offset == position }
        guard offset >= 0, offset <= length ?? 0 else { return false }
        position = offset
        sawEnd = false
        return true
    }

    /// Closes the file until the content is sent again.
    func closeFile() { file = nil }

    /// Closes the file, and stops the task that fills the buffer.
    func close() {
        closeFile()
        pull = nil
        if case .feed(let feed) = kind { feed.close() }
    }
}

/// The pieces of a stream on their way to libcurl; at most two are pending.
final class UploadFeed: Sendable {
    enum Piece {
        case bytes(Int)
        case none
        case end
        case failed(ClientError)
    }

    private struct State {
        var pieces: [ArraySlice<UInt8>] = []
        var end: Result<Void, ClientError>?
        var isWanted = false
        var filler: CheckedContinuation<Bool, Never>?
        var isClosed = false
        var task: Task<Void, Never>?
    }

    private let state = Locked(State())

    /// Starts to fetch pieces.
    /// - Parameter wanted: called when a piece arrives after libcurl has found none.
    func start(_ pull: @escaping ClientBody.Pull, wanted: @escaping @Sendable () -> Void) {
        let task = Task { await self.fill(pull, wanted) }
        let isClosed = state.withLock { state -> Bool in
            state.task = task
            return state.isClosed
        }
        if isClosed { task.cancel() }
    }

    private func fill(_ pull: ClientBody.Pull, _ wanted: @Sendable () -> Void) async {
        do {
            while let piece = try await pull() {
                guard !piece.isEmpty else { continue }
                guard await add(piece, wanted) else { return }
            }
            finish(.success(()), wanted)
        } catch let error as ClientError {
            finish(.failure(error), wanted)
        } catch {
            finish(.failure(ClientError(.bodyFailed, "\(error)", underlying: error)), wanted)
        }
    }

    private func finish(_ end: Result<Void, ClientError>, _ wanted: @Sendable () -> Void) {
        let wakes = state.withLock { state -> Bool in
            state.end = end
            defer { state.isWanted = false }
            return state.isWanted
        }
        if wakes { wanted() }
    }

    /// Adds a piece and waits until another may be added. False when no more is wanted.
    private func add(_ piece: [UInt8], _ wanted: @Sendable () -> Void) async -> Bool {
        let wakes = state.withLock { state -> Bool in
            state.pieces.append(piece[...])
            defer { state.isWanted = false }
            return state.isWanted
        }
        if wakes { wanted() }
        return await withCheckedContinuation { continuation in
            let answer = state.withLock { state -> Bool? in
                if state.isClosed { return false }
                if state.pieces.count < 2 { return true }
                state.filler = continuation
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// Copies the next bytes into `room`. Called in the loop.
    func take(into room: UnsafeMutableRawBufferPointer) -> Piece {
        let (answer, filler) = state.withLock {
            state -> (Piece, CheckedContinuation<Bool, Never>?) in
            guard let first = state.pieces.first else {
                switch state.end {
                case .success: return (.end, nil)
                case .failure(let error): return (.failed(error), nil)
                case nil:
                    state.isWanted = true
                    return (.none, nil)
                }
            }
            let count = min(first.count, room.count)
            unsafe first.withUnsafeBytes { bytes in
                let part = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<count])
                unsafe room.copyMemory(from: part)
            }
            guard count == first.count else {
                state.pieces[0] = first.dropFirst(count)
                return (.bytes(count), nil)
            }
            state.pieces.removeFirst()
            let filler = state.filler
            state.filler = nil
            return (.bytes(count), filler)
        }
        filler?.resume(returning: true)
        return answer
    }

    /// Whether a piece is pending. If not, the arrival of the next one is reported. Called in the
    /// loop.
    func hasMore() -> Bool {
        state.withLock { state in
            state.isWanted = state.pieces.isEmpty && state.end == nil
            return !state.pieces.isEmpty
        }
    }

    func close() {
        let (filler, task) = state.withLock {
            state -> (CheckedContinuation<Bool, Never>?, Task<Void, Never>?) in
            state.isClosed = true
            state.pieces = []
            defer { state.filler = nil }
            return (state.filler, state.task)
        }
        filler?.resume(returning: false)
        task?.cancel()
    }
}
