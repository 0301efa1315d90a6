internal import HTTPCodecs
internal import HTTPCrypto
internal import HTTPParser

/// The hash of a password, for storage: passwords can be checked against it, but not read from it.
///
/// It is derived by PBKDF2 with HMAC-SHA-256 (RFC 8018) from the password and a random salt. Its
/// text names the algorithm and the rounds, so that later versions can use others:
///
///     $pbkdf2-sha256$i=600000$0KZt8P3sS2h7hYxXH0h1qQ$lBf8…
///
/// The time of creating and of checking a hash is proportional to its rounds: by default some
/// tenths of a second, which is also the cost of one guess after a hash was stolen.
public struct PasswordHash: Hashable, Sendable {
    /// The default number of rounds.
    public static let defaultRounds = 600_000
    /// The most rounds of a hash.
    public static let roundLimit = 10_000_000

    /// The number of rounds of the derivation.
    public let rounds: Int
    private let salt: [UInt8]
    private let key: [UInt8]

    /// Hashes a password with a random salt.
    /// - Parameters:
    ///   - password: the password, hashed as UTF-8.
    ///   - rounds: from 1 to `roundLimit`. More rounds make guessing from a stolen hash harder, and
    ///     each check slower.
    public init(hashing password: String, rounds: Int = defaultRounds) {
        self.init(hashing: password, rounds: rounds, salt: Crypto.random(16))
    }

    package init(hashing password: String, rounds: Int, salt: [UInt8]) {
        precondition((1...Self.roundLimit).contains(rounds), "rounds out of range")
        self.rounds = rounds
        self.salt = salt
        key = Crypto.pbkdf2SHA256(Array(password.utf8), salt: salt, rounds: rounds)
    }

    /// Parses the text of a stored hash; `nil` if the text is malformed or of an unknown kind.
    public init?(_ text: String) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "pbkdf2-sha256",
            parts[2].hasPrefix("i="), let salt = Self.decoded(parts[3]),
            let key = Self.decoded(parts[4]), (8...64).contains(salt.count), key.count == 32,
            let rounds = FieldValues.parseDecimal(String(parts[2].dropFirst(2))),
            1...Int64(Self.roundLimit) ~= rounds
        else { return nil }
        (self.rounds, self.salt, self.key) = (Int(rounds), salt, key)
    }

    /// A random hash that no known password matches. It takes as long to check as others with the
    /// same rounds, and is used for unknown users.
    public static func unmatchable(rounds: Int = defaultRounds) -> PasswordHash {
        precondition((1...roundLimit).contains(rounds), "rounds out of range")
        return PasswordHash(rounds: rounds, salt: Crypto.random(16), key: Crypto.random(32))
    }

    private init(rounds: Int, salt: [UInt8], key: [UInt8]) {
        (self.rounds, self.salt, self.key) = (rounds, salt, key)
    }

    /// Whether a password matches. A wrong one takes the same time as the right one. A password
    /// with NUL never matches.
    ///
    /// This blocks the thread for the time of the rounds; handlers should call ``verify(_:)``.
    public func matches(_ password: String) -> Bool {
        let derived = Crypto.pbkdf2SHA256(Array(password.utf8), salt: salt, rounds: rounds)
        // HMAC pads its key with zeros, so appended zeros do not change the hash of a password.
        return Crypto.areEqual(derived, key) && !password.utf8.contains(0)
    }

    /// Whether a password matches, checked outside of the event loops.
    ///
    /// These checks run one at a time in the whole program, on a separate thread; up to 128 run or
    /// wait. Checks of `Authenticator` run independently, two at a time. Results are not cached,
    /// and failures are not counted.
    /// - Throws: `HTTPError` with 503 and Retry-After if 128 checks already run or wait;
    ///   `CancellationError` as soon as the task is cancelled.
    public func verify(_ password: String) async throws -> Bool {
        try await PasswordQueue.shared.check(password, self)
    }

    /// Bytes that differ between any two hashes.
    var distinction: [UInt8] { salt + key }

    /// Decodes base64 without padding, the form in texts of hashes.
    private static func decoded(_ text: Substring) -> [UInt8]? {
        guard text.utf8.count <= 128, !text.contains("=") else { return nil }
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return Base64.decode(Array((text + padding).utf8))
    }

    private static func encoded(_ bytes: [UInt8]) -> String {
        var text = Base64.text(of: bytes)
        while text.last == "=" { text.removeLast() }
        return text
    }
}

extension PasswordHash: CustomStringConvertible {
    /// The text under which the hash is stored; `init(_:)` reads it.
    public var description: String {
        "$pbkdf2-sha256$i=\(rounds)$\(Self.encoded(salt))$\(Self.encoded(key))"
    }
}
