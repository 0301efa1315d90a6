internal import CTLSShims
internal import HTTPCrypto
internal import ToolkitSystem

/// The keys that encrypt session tickets (RFC 5077). A stolen key reveals all sessions that were
/// resumed with its tickets, so a key is dropped a day after it was made.
@safe
final class TicketKeys: @unchecked Sendable {
    /// The length of a key in bytes: a name of 16, a key for AES-256 and a key for HMAC.
    static let keyLength = 80
    static let count = 3
    /// How long a key encrypts new tickets, in nanoseconds.
    static let period: UInt64 = 8 * 3_600 * 1_000_000_000

    let pointer: UnsafeMutableRawPointer
    private let state: Locked<State>

    private struct State: Sendable {
        var keys: [UInt8]
        /// The times at which the keys were made, by the monotonic clock; empty for keys of a file.
        var made: [UInt64]
    }

    /// - Parameter now: a time of the monotonic clock, in nanoseconds.
    init(now: UInt64) throws(TLSError) {
        guard let pointer = unsafe http_tls_keys() else { throw TLSError(.library, "") }
        unsafe self.pointer = pointer
        state = Locked(State(keys: Crypto.random(Self.keyLength), made: [now]))
        state.withLock { set($0) }
    }

    deinit { unsafe http_tls_keys_free(pointer) }

    /// Makes a new key if the newest one is older than `period`, and drops keys that are too old.
    func rotate(now: UInt64) {
        state.withLock { state in
            guard let newest = state.made.first, let oldest = state.made.last else { return }
            let lifetime = Self.period * UInt64(Self.count)
            let isDue = now >= newest &+ Self.period
            guard isDue || now >= oldest &+ lifetime else { return }
            if isDue {
                state.made.insert(now, at: 0)
                state.keys = Crypto.random(Self.keyLength) + state.keys
            }
            state.made = state.made.prefix(Self.count).filter { now < $0 &+ lifetime }
            state.keys = Array(state.keys.prefix(state.made.count * Self.keyLength))
            set(state)
        }
    }

    /// Uses the keys of a file. The file's owner replaces them, so `rotate` makes no keys from now
    /// on.
    func use(_ bytes: [UInt8], from path: String) throws(TLSError) {
        guard bytes.count >= Self.keyLength, bytes.count % Self.keyLength == 0 else {
            throw TLSError(
                .file, path, "expected keys of 80 bytes each, found \(bytes.count) bytes")
        }
        state.withLock { state in
            state.keys = Array(bytes.prefix(Self.count * Self.keyLength))
            state.made = []
            set(state)
        }
    }

    /// Call only with the lock of `state` held: otherwise older keys could replace newer ones.
    private func set(_ state: State) {
        unsafe http_tls_keys_set(pointer, state.keys, state.keys.count / Self.keyLength)
    }
}
