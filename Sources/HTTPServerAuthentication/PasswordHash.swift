internal import HTTPCodecs
internal import HTTPCrypto
internal import HTTPParser

/// A password in the form in which it is kept: it can be checked, and not be read.
///
/// It is derived by PBKDF2 with HMAC-SHA-256 (RFC 8018) from the password and a random salt. Its
/// text can be stored, and says how it was made, so that later versions can do it otherwise:
///
///     $pbkdf2-sha256$i=600000$0KZt8P3sS2h7hYxXH0h1qQ$lBf8…
///
/// Creating and checking one takes as long as its rounds: by default some tenths of a second, which
/// is the cost of one guess after a hash was stolen.
public struct PasswordHash: Hashable, Sendable {
    /// The rounds of a hash that is made without saying how many.
    public static let defaultRounds = 600_000
    /// The most rounds that a stored hash may ask for.
    public static let roundLimit = 10_000_000

    /// How many rounds the derivation takes.
    public let rounds: Int
    private let salt: [UInt8]
    private let key: [UInt8]

    /// Derives the form of a password that is kept.
    /// - Parameters:
    ///   - password: the password; its UTF-8 counts.
    ///   - rounds: from 1 to `roundLimit`; how hard a stolen hash is to try passwords on, and how
    ///     long each check takes.
    public init(hashing password: String, rounds: Int = defaultRounds) {
        self.init(hashing: password, rounds: rounds, salt: Crypto.random(16))
    }

    package init(hashing password: String, rounds: Int, salt: [UInt8]) {
        precondition((1...Self.roundLimit).contains(rounds), "rounds out of range")
        self.rounds = rounds
        self.salt = salt
        key = Crypto.pbkdf2SHA256(Array(password.utf8), salt: salt, rounds: rounds)
    }

    /// Reads the text of a stored hash; `nil` when it is none, or of a kind that is not known.
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

    /// A hash without a known password, which costs as much to check as others with so many rounds:
    /// used in place of the password of an unknown user.
    public static func unmatchable(rounds: Int = defaultRounds) -> PasswordHash {
        precondition((1...roundLimit).contains(rounds), "rounds out of range")
        return PasswordHash(rounds: rounds, salt: Crypto.random(16), key: Crypto.random(32))
    }

    private init(rounds: Int, salt: [UInt8], key: [UInt8]) {
        (self.rounds, self.salt, self.key) = (rounds, salt, key)
    }

    /// Whether this is the password; it takes as long for a wrong one as for the right one. One with
    /// a NUL in it matches nothing.
    ///
    /// It keeps its thread busy for as long as its rounds take; handlers call ``verify(_:)``.
    public func matches(_ password: String) -> Bool {
        let derived = Crypto.pbkdf2SHA256(Array(password.utf8), salt: salt, rounds: rounds)
        // HMAC pads its key with zeros, so a password and the same with zeros behind it are one.
        return Crypto.areEqual(derived, key) && !password.utf8.contains(0)
    }

    /// Whether this is the password, found out outside of the event loops.
    ///
    /// One check runs at a time in the whole program, on a thread of its own, and up to 128 are
    /// under way. Beside it run up to two checks of the program's `Authenticator`s. Nothing is
    /// remembered, and failures are not counted.
    /// - Throws: `HTTPError` with 503 and Retry-After when 128 checks are under way already;
    ///   `CancellationError` as soon as the task is cancelled.
    public func verify(_ password: String) async throws -> Bool {
        try await PasswordQueue.shared.check(password, self)
    }

    /// The identifier of this kind of hash.
    var distinction: [UInt8] { salt + key }

    /// Base64 without its padding, as such texts have it.
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
