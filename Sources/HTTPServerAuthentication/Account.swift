/// A user who can log in.
public struct Account: Sendable {
    /// The name; it is compared as text, not byte by byte.
    public var name: String
    /// The hash that Basic checks; `nil` when the user cannot log in by Basic.
    public var password: PasswordHash?
    /// The secrets that Digest checks, at most one per algorithm; without one the user cannot log
    /// in by that algorithm.
    public var digestSecrets: [DigestSecret]

    /// Creates an account.
    /// - Parameters:
    ///   - name: the name. Basic cannot carry one with a colon or a control character.
    ///   - password: what Basic checks.
    ///   - digestSecrets: what Digest checks.
    public init(name: String, password: PasswordHash? = nil, digestSecrets: [DigestSecret] = []) {
        self.name = name
        self.password = password
        self.digestSecrets = digestSecrets
    }

    func secret(_ algorithm: DigestAlgorithm) -> DigestSecret? {
        digestSecrets.first { $0.algorithm == algorithm }
    }
}

/// Where an authenticator finds accounts: a table, a file, a database.
///
/// The store is asked for each request that carries credentials, so a slow one should cache. An
/// error that it throws becomes the response, 500 unless it is an `HTTPError`.
public protocol AccountStore: Sendable {
    /// The name of the protection space (RFC 9110 section 11.5), which users are shown. The Digest
    /// secrets are made for it. It must be free of control characters.
    var realm: String { get }

    /// Checked in place of the password of an unknown user, so that both cases take the same time:
    /// it must have as many rounds as the passwords of the store. By default it has
    /// `PasswordHash.defaultRounds`.
    var absentPassword: PasswordHash { get }

    /// The account of a user, or `nil`. It should take the same time for both.
    func account(named name: String) async throws -> Account?

    /// The account of a user when the client sends only the hash of name and realm (`userhash`, RFC
    /// 7616 section 3.4.4), or `nil`, which is the default.
    /// - Parameters:
    ///   - hash: lower-case hexadecimal digits.
    ///   - algorithm: by which the hash of `name:realm` was made.
    func account(nameHash hash: String, by algorithm: DigestAlgorithm) async throws -> Account?
}

extension AccountStore {
    /// A hash with the default number of rounds.
    public var absentPassword: PasswordHash { AbsentPassword.standard }

    /// No account.
    public func account(
        nameHash hash: String, by algorithm: DigestAlgorithm
    ) async throws -> Account? { nil }
}

private enum AbsentPassword {
    static let standard = PasswordHash.unmatchable()
}

/// A store that answers at once, so that requests need no task for it.
public protocol ImmediateAccountStore: AccountStore {
    /// The account of a user, or `nil`; it must not block.
    func accountNow(named name: String) throws -> Account?

    /// The account of a user when the client sends only the hash of name and realm; it must not
    /// block.
    func accountNow(nameHash hash: String, by algorithm: DigestAlgorithm) throws -> Account?
}

extension ImmediateAccountStore {
    /// The account of a user, or `nil`.
    public func account(named name: String) async throws -> Account? {
        try accountNow(named: name)
    }

    /// The account of a user when the client sends only a hash, or `nil`.
    public func account(
        nameHash hash: String, by algorithm: DigestAlgorithm
    ) async throws -> Account? {
        try accountNow(nameHash: hash, by: algorithm)
    }

    /// No account.
    public func accountNow(
        nameHash hash: String, by algorithm: DigestAlgorithm
    ) throws -> Account? { nil }
}
