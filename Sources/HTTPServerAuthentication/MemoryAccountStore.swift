internal import HTTPParser
public import HTTPServerCore
internal import ToolkitSystem

/// The name of an account is invalid: it is empty or too long, or contains a character that Basic
/// cannot send.
public struct InvalidUserName: Error, Hashable, Sendable, CustomStringConvertible {
    /// The most bytes of a name in UTF-8. Comparing longer names in canonical form would take long.
    public static let byteLimit = 512

    /// The name.
    public let name: String

    /// The rule that the name breaks.
    public var description: String {
        if name.isEmpty { return "a user name must not be empty" }
        return name.utf8.count > Self.byteLimit
            ? "a user name must have at most \(Self.byteLimit) bytes"
            : "a user name must have no colon and no control character (RFC 7617 section 2)"
    }
}

/// Accounts in memory. They may change while a server uses the store.
///
/// ```swift
/// let accounts = MemoryAccountStore(realm: "Notes")
/// try accounts.add("ann", password: "correct horse")
/// ```
///
/// Passwords are not stored, only a hash for Basic and the realm's secrets for Digest. Names are
/// compared in Unicode's canonical form.
public final class MemoryAccountStore: ImmediateAccountStore {
    private struct Table: Sendable {
        var accounts: [String: Account] = [:]
        /// Names by the hashes that clients may send instead of them.
        var names: [String: String] = [:]
    }

    /// The name of the protection space.
    public let realm: String
    /// The hash that is checked for an unknown user.
    public let absentPassword: PasswordHash
    private let rounds: Int
    private let table = Locked(Table())

    /// Creates a store without accounts.
    /// - Parameters:
    ///   - realm: the name of the protection space, which browsers show to users; by default the
    ///     default name of a server. It must not contain control characters.
    ///   - rounds: the rounds of the hashes, from 1 to `PasswordHash.roundLimit`. More rounds make
    ///     guessing from a stolen hash harder, and the first request of a user slower.
    public init(
        realm: String = ServerConfiguration.defaultServerName,
        rounds: Int = PasswordHash.defaultRounds
    ) {
        self.realm = realm
        self.rounds = rounds
        absentPassword = .unmatchable(rounds: rounds)
    }

    /// The names of all users, in no particular order.
    public var names: [String] { table.withLock { Array($0.accounts.keys) } }

    /// Adds a user, or replaces the password of an existing one. It blocks while the hash is
    /// derived, some tenths of a second with the default rounds.
    /// - Parameters:
    ///   - name: the name, without colons and control characters.
    ///   - password: the password; Basic cannot send control characters.
    /// - Throws: an error if the name is invalid.
    public func add(_ name: String, password: String) throws(InvalidUserName) {
        let secrets = DigestAlgorithm.allCases.filter(\.isAvailable).map {
            DigestSecret(name: name, realm: realm, password: password, algorithm: $0)
        }
        try add(
            Account(
                name: name, password: PasswordHash(hashing: password, rounds: rounds),
                digestSecrets: secrets))
    }

    /// Adds an account with a hashed password, or replaces the account of the same name. If the
    /// number of rounds differs from the store's, response times reveal that the user exists.
    /// - Throws: an error if the name is invalid.
    public func add(_ account: Account) throws(InvalidUserName) {
        let name = account.name
        guard !name.isEmpty, name.utf8.count <= InvalidUserName.byteLimit,
            !name.utf8.contains(where: BasicCredentials.isExcludedFromNames)
        else {
            throw InvalidUserName(name: name)
        }
        let hashes = DigestAlgorithm.allCases.filter(\.isAvailable).map { hash(of: name, by: $0) }
        table.withLock { table in
            table.accounts[name] = account
            for hash in hashes { table.names[hash] = name }
        }
    }

    /// Removes a user. Further requests of that user are refused.
    public func remove(_ name: String) {
        let hashes = DigestAlgorithm.allCases.filter(\.isAvailable).map { hash(of: name, by: $0) }
        table.withLock { table in
            table.accounts[name] = nil
            for hash in hashes { table.names[hash] = nil }
        }
    }

    private func hash(of name: String, by algorithm: DigestAlgorithm) -> String {
        algorithm.hex("\(name):\(realm)")
    }

    /// The account of a user, or `nil`.
    public func accountNow(named name: String) -> Account? {
        guard name.utf8.count <= InvalidUserName.byteLimit else { return nil }
        return table.withLock { $0.accounts[name] }
    }

    /// The account of a user of whom the client sends only the hash of name and realm, or `nil`.
    public func accountNow(nameHash hash: String, by algorithm: DigestAlgorithm) -> Account? {
        guard hash.utf8.count == algorithm.byteCount * 2 else { return nil }
        return table.withLock { table in table.names[hash].flatMap { table.accounts[$0] } }
    }
}
