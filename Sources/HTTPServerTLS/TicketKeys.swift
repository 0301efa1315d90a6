internal import CTLSShims
internal import HTTPCrypto
internal import ToolkitSystem

/// The keys by which session tickets are encrypted (RFC 5077). A stolen key opens all sessions that
/// were resumed by it, so none lives for a day.
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
        /// When the next key is due, on the monotonic clock.
        var due: UInt64
    }

    /// - Parameter now: a time of the monotonic clock, in nanoseconds.
    init(now: UInt64) throws(TLSError) {
        guard let pointer = unsafe http_tls_keys() else { throw TLSError(.library, "") }
        unsafe self.pointer = pointer
        state = Locked(State(keys: Crypto.random(Self.keyLength), due: now &+ Self.period))
        state.withLock { set($0) }
    }

    deinit { unsafe http_tls_keys_free(pointer) }

    /// Makes a new key when it is time, and forgets those that were due to go since it was asked last.
    func rotate(now: UInt64) {
        state.withLock { state in
            guard now >= state.due else { return }
            let missed = min((now &- state.due) / Self.period, UInt64(Self.count - 1))
            let kept = state.keys.prefix((Self.count - 1 - Int(missed)) * Self.keyLength)
            state.keys = Crypto.random(Self.keyLength) + kept
            state.due = now &+ Self.period
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
            state.due = .max
            set(state)
        }
    }

    /// Call only within the lock of the state: otherwise older keys could replace newer ones.
    private func set(_ state: State) {
        unsafe http_tls_keys_set(pointer, state.keys, state.keys.count / Self.keyLength)
    }
}
