internal import HTTPServerCore
internal import ToolkitSystem

/// Staged content for a file of a `LocalStore`.
final class LocalContent: StagedContent {
    /// The longest content, in bytes, that is staged in memory instead of a file.
    static let memoryLimit: Int64 = 64 << 10

    private enum Form: Sendable {
        case bytes([UInt8])
        case file(OpenFile, FilePlace)
    }

    private struct State: Sendable {
        var form: Form
        var length: Int64
        var isPlaced = false
        var description = ContentDescription()
        /// The bytes that count towards the store's limit.
        var hold: StoreUsage.Hold?
    }

    private let state: Locked<State>

    init(bytes: [UInt8]) {
        state = Locked(State(form: .bytes(bytes), length: Int64(bytes.count)))
    }

    init(file: OpenFile, place: FilePlace) {
        state = Locked(State(form: .file(file, place), length: 0))
    }

    deinit {
        state.withLock { state in
            guard case .file(_, let place) = state.form, !state.isPlaced else { return }
            BlockingPool.files.submit {
                try? place.directory.remove(place.name, isDirectory: false)
            }
        }
    }

    var length: Int64 {
        get { state.withLock { $0.length } }
        set { state.withLock { $0.length = newValue } }
    }

    var contentDescription: ContentDescription {
        get { state.withLock { $0.description } }
        set { state.withLock { $0.description = newValue } }
    }

    var hold: StoreUsage.Hold? {
        get { state.withLock { $0.hold } }
        set { state.withLock { $0.hold = newValue } }
    }

    /// Whether the content has no file yet.
    var isInMemory: Bool {
        state.withLock { state in
            if case .bytes = state.form { true } else { false }
        }
    }

    var isPlaced: Bool {
        get { state.withLock { $0.isPlaced } }
        set { state.withLock { $0.isPlaced = newValue } }
    }

    /// Writes the content into an open file; it blocks.
    func write(into other: OpenFile, at offset: Int64) throws(SystemError) {
        switch state.withLock({ $0.form }) {
        case .bytes(let bytes): try other.write(bytes, at: offset)
        case .file(let file, _):
            var done: Int64 = 0
            while true {
                let piece = try Syscalls.readPiece(of: file.descriptor, at: done)
                if piece.isEmpty { return }
                try other.write(piece, at: offset + done)
                done += Int64(piece.count)
            }
        }
    }

    /// The content as a file on the volume of its target; it blocks.
    func written(
        in staging: StagingDirectory, for target: FilePlace
    ) throws(SystemError) -> (OpenFile, FilePlace) {
        let form = state.withLock { $0.form }
        guard case .bytes(let bytes) = form else {
            if case .file(let file, let place) = form { return (file, place) }
            preconditionFailure("content is neither bytes nor a file")
        }
        let (file, place) = try staging.create(beside: target)
        state.withLock { $0.form = .file(file, place) }
        try file.write(bytes)
        return (file, place)
    }
}
