internal import HTTPCrypto

/// A nonce, which a server gives clients to include in their hashes (RFC 7616 section 3.3). Its
/// text consists of the time of its creation, a random part, and a code that only this server can
/// compute. Unused nonces therefore need no memory.
struct Nonce: Equatable, Sendable {
    /// The time of its creation, in nanoseconds of `Authenticator.nonceTime`.
    let issued: UInt64
    /// The random part, by which `NonceTable` finds the nonce.
    let id: UInt64

    static func fresh(at time: UInt64) -> Nonce {
        let id = Crypto.random(8).reduce(0) { $0 << 8 | UInt64($1) }
        return Nonce(issued: time, id: id)
    }

    init(issued: UInt64, id: UInt64) {
        (self.issued, self.id) = (issued, id)
    }

    /// Parses the text of a nonce; `nil` if it was not made with this key.
    init?(_ text: String, key: [UInt8]) {
        guard text.utf8.count == 64, let bytes = Hex.bytes(of: text) else { return nil }
        let code = Crypto.hmacSHA256(Array(bytes[..<16]), key: key)
        guard Crypto.areEqual(Array(code[..<16]), Array(bytes[16...])) else { return nil }
        issued = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        id = bytes[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
    }

    func text(key: [UInt8]) -> String {
        let bytes = [issued, id].flatMap { word in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> $0) }
        }
        return Hex.text(of: bytes + Crypto.hmacSHA256(bytes, key: key)[..<16])
    }
}

/// The counts that were used with each nonce, so that no request is accepted twice (RFC 7616
/// section 3.4, nc). It contains only nonces of clients that have proved a password.
package struct NonceTable: Sendable {
    /// The result of checking a count.
    package enum Use: Equatable, Sendable {
        /// The count was not used before.
        case first
        /// The count was used, is zero, or is too far below the highest one to know.
        case repeated
        /// The nonce has expired, or may have been used and forgotten.
        case expired
    }

    private struct Entry: Sendable {
        var issued: UInt64
        var highest: UInt32
        /// Bit n is set if the count `highest - n` was used.
        var used: UInt64
        /// The owner of the nonce.
        var user: UInt64
    }

    private var entries: [UInt64: Entry] = [:]
    /// The nonces of `entries` that were given to users and not used yet, by user.
    private var expected: [UInt64: UInt64] = [:]
    /// A nonce made at this time or before that is not in `entries` may have been used and
    /// forgotten.
    private var forgotten: UInt64 = 0
    private let limit: Int
    private let lifetime: UInt64

    /// - Parameters:
    ///   - limit: the most nonces that are stored.
    ///   - lifetime: how long a nonce is valid, in nanoseconds.
    package init(limit: Int, lifetime: UInt64) {
        self.limit = max(limit, 1)
        self.lifetime = lifetime
    }

    package var count: Int { entries.count }

    /// Whether a user has logged in with a nonce, or was given the nonce after a proof of the
    /// password.
    package func contains(_ id: UInt64, by user: UInt64 = 0) -> Bool { entries[id]?.user == user }

    /// Records a nonce that was given to a user with the right password. Only the user's last
    /// unused nonce is kept, so replayed requests cannot displace the nonces of others.
    package mutating func expect(id: UInt64, issued: UInt64, user: UInt64, now: UInt64) {
        if let older = expected.removeValue(forKey: user) { entries[older] = nil }
        if entries.count >= limit { forget(now) }
        guard issued > forgotten else { return }
        entries[id] = Entry(issued: issued, highest: 0, used: 0, user: user)
        expected[user] = id
    }

    /// Records the use of a count with a nonce. Requests on parallel connections may overtake each
    /// other, so counts up to 63 below the highest one are accepted, each once.
    package mutating func use(
        id: UInt64, issued: UInt64, count: UInt32, user: UInt64 = 0, now: UInt64
    ) -> Use {
        if !expected.isEmpty, let owner = entries[id]?.user, expected[owner] == id {
            expected[owner] = nil
        }
        guard now &- issued < lifetime else {
            entries[id] = nil
            return .expired
        }
        guard count > 0 else { return .repeated }
        guard var entry = entries[id] else {
            guard issued > forgotten else { return .expired }
            if entries.count >= limit { forget(now) }
            guard issued > forgotten else { return .expired }
            entries[id] = Entry(issued: issued, highest: count, used: 1, user: user)
            return .first
        }
        if count > entry.highest {
            let step = count - entry.highest
            entry.used = step < 64 ? entry.used << UInt64(step) | 1 : 1
            entry.highest = count
        } else {
            let distance = entry.highest - count
            guard distance < 64, entry.used >> UInt64(distance) & 1 == 0 else { return .repeated }
            entry.used |= 1 << UInt64(distance)
        }
        entries[id] = entry
        return .first
    }

    /// Removes expired nonces and, if that is not enough, the oldest quarter. The removed nonces
    /// then count as expired.
    private mutating func forget(_ now: UInt64) {
        defer {
            let entries = entries
            expected = expected.filter { entries[$0.value] != nil }
        }
        let lifetime = lifetime
        // The clock is read before the lock is taken: a nonce may be newer.
        entries = entries.filter {
            $0.value.issued > now || now - $0.value.issued < lifetime
        }
        guard entries.count >= limit else { return }
        let times = entries.values.map(\.issued).sorted()
        let newest = times[(entries.count - 1) / 4]
        forgotten = max(forgotten, newest)
        entries = entries.filter { $0.value.issued > newest }
    }
}
