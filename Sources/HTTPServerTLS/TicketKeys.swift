internal import CTLSShims
internal import HTTPCrypto
internal import ToolkitSystem

/// The keys by which session tickets are encrypted (RFC 5077). A stolen key opens all sessions that
/// were resumed by it, so none opens a ticket a day after it was made.
@safe
final class TicketKeys: @unchecked Sendable {
    /// A name of 16 bytes, a key of AES-256 and one of HMAC.
    static let keyLength = 80
    static let count = 3
    /// How long a key is the newest, in nanoseconds.
    static let period: UInt64 = 8 * 3_600 * 1_000_000_000

    let pointer: UnsafeMutableRawPointer
    private let state: Locked<State>

    private struct State: Sendable {
        var keys: [UInt8]
        /// When the keys were made, on the monotonic clock; empty for those of a file.
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

    /// Makes a new key when it is time, and forgets those that have become too old.
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

    /// Takes the keys of a file, which its owner replaces: no key is made here any more.
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

    /// Call only within the lock of the state: otherwise older keys could replace newer ones.
    private func set(_ state: State) {
        unsafe http_tls_keys_set(pointer, state.keys, state.keys.count / Self.keyLength)
    }
}
