/// The account of a user who can log in.
public struct Account: Sendable {
    /// The name, spelled as in `Request.identity` after a login. A store may find it by other
    /// spellings; `MemoryAccountStore` compares names in Unicode's canonical form.
    public var name: String
    /// The hash that Basic checks; `nil` if the user cannot log in with Basic.
    public var password: PasswordHash?
    /// The secrets that Digest checks, at most one for each algorithm. The user cannot log in with
    /// an algorithm that has no secret here.
    public var digestSecrets: [DigestSecret]

    /// Creates an account.
    /// - Parameters:
    ///   - name: the name. Basic cannot send a name with a colon or a control character.
    ///   - password: the hash that Basic checks.
    ///   - digestSecrets: the secrets that Digest checks.
    public init(name: String, password: PasswordHash? = nil, digestSecrets: [DigestSecret] = []) {
        self.name = name
        self.password = password
        self.digestSecrets = digestSecrets
    }

    func secret(_ algorithm: DigestAlgorithm) -> DigestSecret? {
        digestSecrets.first { $0.algorithm == algorithm }
    }
}

/// The source of an authenticator's accounts, such as a table, a file or a database.
///
/// The store is asked for each request with credentials, so a slow store should cache. An error
/// that it throws becomes the response: 500 unless it is an `HTTPError`.
public protocol AccountStore: Sendable {
    /// The name of the protection space (RFC 9110 section 11.5), which browsers show to users.
    /// Digest secrets depend on it. It must not contain control characters.
    var realm: String { get }

    /// The hash that Basic checks for a user who is unknown or has no password, so that the check
    /// takes as long as that of a wrong password. It must have as many rounds as the passwords of
    /// the store. The default has `PasswordHash.defaultRounds`.
    var absentPassword: PasswordHash { get }

    /// The account of a user; `nil` for an unknown user. Both should take the same time.
    func account(named name: String) async throws -> Account?

    /// The account of a user of whom the client sends only the hash of name and realm (`userhash`,
    /// RFC 7616 section 3.4.4). The default implementation returns `nil`.
    /// - Parameters:
    ///   - hash: the hash of `name:realm`, in lower-case hexadecimal digits.
    ///   - algorithm: the algorithm of the hash.
    func account(nameHash hash: String, by algorithm: DigestAlgorithm) async throws -> Account?
}

extension AccountStore {
    /// A hash with the default number of rounds.
    public var absentPassword: PasswordHash { AbsentPassword.standard }

    /// Returns `nil`.
    public func account(
        nameHash hash: String, by algorithm: DigestAlgorithm
    ) async throws -> Account? { nil }
}

private enum AbsentPassword {
    static let standard = PasswordHash.unmatchable()
}

/// A store that answers without waiting, so that requests need no task for it.
public protocol ImmediateAccountStore: AccountStore {
    /// The account of a user, or `nil`. Must not block.
    func accountNow(named name: String) throws -> Account?

    /// The account of a user of whom the client sends only the hash of name and realm, or `nil`.
    /// Must not block.
    func accountNow(nameHash hash: String, by algorithm: DigestAlgorithm) throws -> Account?
}

extension ImmediateAccountStore {
    /// The account of a user, or `nil`.
    public func account(named name: String) async throws -> Account? {
        try accountNow(named: name)
    }

    /// The account of a user of whom the client sends only the hash of name and realm, or `nil`.
    public func account(
        nameHash hash: String, by algorithm: DigestAlgorithm
    ) async throws -> Account? {
        try accountNow(nameHash: hash, by: algorithm)
    }

    /// Returns `nil`.
    public func accountNow(
        nameHash hash: String, by algorithm: DigestAlgorithm
    ) throws -> Account? { nil }
}
