internal import HTTPCrypto
internal import HTTPParser
internal import HTTPServerCore
public import HTTPServerKit
internal import ToolkitSystem

/// Authenticates the sender of a request with Basic (RFC 7617) and Digest (RFC 7616).
///
/// ```swift
/// let accounts = MemoryAccountStore(realm: "Notes")
/// try accounts.add("ann", password: "correct horse")
/// let authenticator = Authenticator(accounts: accounts)
/// router.mount("/notes", AuthenticationHandler(notes, by: authenticator))
/// ```
///
/// Credentials are checked when the head of a request is complete, before content is read or
/// requested. An unknown user takes the same time as a wrong password and gets the same answer.
/// Passwords of Basic are checked outside of the event loops, and right ones are cached for a while
/// in a form that does not reveal them. A Digest request is accepted once: a count that was already
/// used with its nonce is refused.
///
/// Handlers that share an authenticator share its nonces, its cache and its counts of failures.
public final class Authenticator: Sendable {
    /// The offered schemes, and the limits of caches and logins.
    public struct Options: Sendable {
        /// The schemes offered to clients, best first: most clients take the first that they
        /// support.
        public var schemes: [AuthenticationScheme] = [.digest, .basic]
        /// The algorithms of Digest, best first. Algorithms that the system lacks are left out.
        public var digestAlgorithms: [DigestAlgorithm] = [.sha256, .md5]
        /// Whether Digest clients are asked to send a hash instead of the name (`userhash`). The
        /// store must be able to find accounts by the hash, as `MemoryAccountStore` can.
        public var hashesNames = false
        /// The most bytes of Authorization; a longer field gets 431.
        public var credentialsByteLimit = 4_096
        /// How long a nonce of Digest is valid. After that, clients get a new nonce, which they use
        /// without asking the user for the password again.
        public var nonceLifetime = Duration.seconds(300)
        /// The most nonces in use that are stored, with some 40 bytes each. Clients with older
        /// nonces get new ones.
        public var nonceLimit = 4_096
        /// How long a right password of Basic is cached, so that it needs no key derivation.
        /// Changes of an account in a store apply immediately.
        public var passwordLifetime = Duration.seconds(300)
        /// The most right passwords of Basic that are cached.
        public var passwordLimit = 1_024
        /// Whether logins are delayed after failures: those of one user from an IPv4 address or
        /// IPv6 network after ten failures, and all logins from that network after a hundred. Then
        /// one password per second is checked, and logins that would wait longer than ten seconds
        /// get 429.
        ///
        /// A user who has logged in from that network before is not delayed, unless guesses at the
        /// password arrive faster than one per second for minutes, and even then not on the
        /// connection of the login. Logins from this machine are never delayed, because a proxy on
        /// it may send the requests of many clients.
        public var slowsGuessing = true

        /// The defaults.
        public init() {}
    }

    /// The store of accounts, or the closure that checks passwords.
    enum Source: Sendable {
        case store(any AccountStore)
        case immediate(any ImmediateAccountStore)
        case verifier(@Sendable (String, String) async throws -> Bool)
    }

    /// The name of the protection space, which browsers show to users.
    public let realm: String
    let options: Options
    let source: Source
    let checker: PasswordChecker
    let nonces: Locked<NonceTable>
    let failures = Locked(FailureTable())
    let algorithms: [DigestAlgorithm]
    /// The random secrets that are checked for unknown users.
    let absentSecrets: [DigestAlgorithm: DigestSecret]
    /// The key that authenticates the nonces of this authenticator.
    let nonceKey = Crypto.random(32)
    let opaque = Hex.text(of: Crypto.random(16))
    let clock: @Sendable () -> UInt64
    /// A random offset, so that nonces do not reveal how long the system has been running.
    let nonceEpoch = UInt64.random(in: 0..<1 << 60)

    /// Creates an authenticator for the accounts of a store.
    /// - Parameters:
    ///   - accounts: the store, whose realm is announced.
    ///   - options: the offered schemes, and the limits of caches and logins.
    public convenience init(accounts: some AccountStore, options: Options = Options()) {
        self.init(accounts: accounts, options: options, clock: { Syscalls.monotonic() })
    }

    /// Creates an authenticator that offers only Basic and has passwords checked by another
    /// service, such as a directory.
    /// - Parameters:
    ///   - realm: the name of the protection space, without control characters.
    ///   - options: the limits of caches and logins; `schemes` is ignored. A right password is
    ///     accepted for `passwordLifetime`, even if the account changes or is removed meanwhile.
    ///   - verify: whether name and password are right. It should take the same time for an unknown
    ///     user and a wrong password. It must not block. Compare names by their bytes (`utf8`): each
    ///     spelling in Unicode that is accepted is another user.
    public convenience init(
        realm: String, options: Options = Options(),
        verify: @escaping @Sendable (_ name: String, _ password: String) async throws -> Bool
    ) {
        var options = options
        options.schemes = [.basic]
        self.init(
            .verifier(verify), realm: realm, options, Self.checker(options),
            clock: { Syscalls.monotonic() })
    }

    /// - Parameters:
    ///   - clock: the time of a monotonic clock, in nanoseconds.
    ///   - matches: compares a password with its hash.
    package convenience init(
        accounts: some AccountStore, options: Options = Options(),
        clock: @escaping @Sendable () -> UInt64,
        matches: @escaping @Sendable (PasswordHash, String) -> Bool = { $0.matches($1) }
    ) {
        let source: Source =
            if let immediate = accounts as? any ImmediateAccountStore {
                .immediate(immediate)
            } else {
                .store(accounts)
            }
        self.init(
            source, realm: accounts.realm, options, Self.checker(options, matches), clock: clock)
    }

    private init(
        _ source: Source, realm: String, _ options: Options, _ checker: PasswordChecker,
        clock: @escaping @Sendable () -> UInt64
    ) {
        precondition(FieldValues.quoted(realm) != nil, "realm has a control character")
        precondition(!options.schemes.isEmpty, "schemes must not be empty")
        self.source = source
        self.realm = realm
        self.options = options
        self.checker = checker
        self.clock = clock
        nonces = Locked(
            NonceTable(limit: options.nonceLimit, lifetime: options.nonceLifetime.nanoseconds))
        algorithms = options.digestAlgorithms.filter(\.isAvailable)
        absentSecrets = Dictionary(
            algorithms.map { ($0, DigestSecret.unknown($0)) },
            uniquingKeysWith: { first, _ in first })
    }

    private static func checker(
        _ options: Options,
        _ matches: @escaping @Sendable (PasswordHash, String) -> Bool = { $0.matches($1) }
    ) -> PasswordChecker {
        PasswordChecker(
            limit: options.passwordLimit, lifetime: options.passwordLifetime.nanoseconds,
            matches: matches)
    }

    /// The number of cached right passwords, and of stored nonces.
    package var rememberedCounts: (passwords: Int, nonces: Int) {
        (checker.rememberedCount, nonces.withLock { $0.count })
    }

    /// The current time for nonces, in nanoseconds.
    var nonceTime: UInt64 { clock() &+ nonceEpoch }

    // MARK: Challenges

    /// The response to a request without credentials, or with wrong ones: 401 with a challenge for
    /// each scheme and algorithm (RFC 9110 section 11.6.1).
    /// - Parameters:
    ///   - isStale: whether the client knows the password and only needs a new nonce.
    ///   - nonce: the nonce of Digest; `nil` for a new one.
    func challenge(isStale: Bool = false, nonce: Nonce? = nil) -> HTTPError {
        var fields = HTTPFields()
        let realm = FieldValues.quoted(realm) ?? "\"\""
        for scheme in options.schemes {
            switch scheme {
            case .certificate: break
            case .basic:
                fields.append(.wwwAuthenticate, "Basic realm=\(realm), charset=\"UTF-8\"")
            case .digest:
                let nonce = (nonce ?? Nonce.fresh(at: nonceTime)).text(key: nonceKey)
                for algorithm in algorithms {
                    let start = "Digest realm=\(realm), qop=\"auth\", algorithm="
                    fields.append(
                        .wwwAuthenticate,
                        "\(start)\(algorithm.rawValue), nonce=\"\(nonce)\", opaque=\"\(opaque)\""
                            + ", charset=UTF-8" + (options.hashesNames ? ", userhash=true" : "")
                            + (isStale ? ", stale=true" : ""))
                }
            }
        }
        return HTTPError(.unauthorized, fields: fields)
    }
}
