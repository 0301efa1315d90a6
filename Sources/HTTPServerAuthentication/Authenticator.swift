internal import HTTPCrypto
internal import HTTPParser
internal import HTTPServerCore
public import HTTPServerKit
internal import ToolkitSystem

/// Identifies the sender of a request, by Basic (RFC 7617) and Digest (RFC 7616).
///
/// ```swift
/// let accounts = MemoryAccountStore(realm: "Notes")
/// try accounts.add("ann", password: "correct horse")
/// let authenticator = Authenticator(accounts: accounts)
/// router.mount("/notes", AuthenticationHandler(notes, by: authenticator))
/// ```
///
/// Credentials are checked at the head of a request, before content is read or requested. An
/// unknown user takes the same time as a wrong password, and gets the same answer. Passwords of
/// Basic are checked outside of the event loops, and cached for a while in a form that does not
/// reveal them. A Digest request is accepted once: a count that was used with a nonce is refused.
///
/// Handlers that share an authenticator share its nonces and what it remembers.
public final class Authenticator: Sendable {
    /// The offered schemes, and how long results are cached.
    public struct Options: Sendable {
        /// The schemes offered to clients, best first: most clients take the first that they
        /// support.
        public var schemes: [AuthenticationScheme] = [.digest, .basic]
        /// The algorithms of Digest, best first. Algorithms that the system lacks are left out.
        public var digestAlgorithms: [DigestAlgorithm] = [.sha256, .md5]
        /// Whether clients of Digest are asked to send a hash in place of the name (`userhash`).
        /// The store has to find accounts by it; `MemoryAccountStore` does.
        public var hashesNames = false
        /// The most bytes of Authorization that are looked at; above it 431.
        public var credentialsByteLimit = 4_096
        /// How long a nonce of Digest serves. After that clients are given a new one, which they
        /// use without asking for the password again.
        public var nonceLifetime = Duration.seconds(300)
        /// How many nonces that are in use are remembered, in some 40 bytes each; clients with
        /// older ones are given new ones.
        public var nonceLimit = 4_096
        /// How long a right password of Basic is remembered, so that it needs no derivation.
        /// Changes of its account count at once.
        public var passwordLifetime = Duration.seconds(300)
        /// How many right passwords of Basic are remembered.
        public var passwordLimit = 1_024
        /// Whether logins are delayed: those of one user from an address, or an IPv6 network, after
        /// ten failures, and all from there after a hundred. Then one per second is checked, and
        /// those that would wait for more than ten seconds get 429. A user who has logged in from
        /// there before is not delayed, unless guesses at that password arrive faster than one per
        /// second for minutes, and even then not on the connection of the login. This machine
        /// itself is never delayed, because a proxy on it may act for anybody.
        public var slowsGuessing = true

        /// The defaults.
        public init() {}
    }

    /// The store of accounts.
    enum Source: Sendable {
        case store(any AccountStore)
        case immediate(any ImmediateAccountStore)
        case verifier(@Sendable (String, String) async throws -> Bool)
    }

    /// The name of the protection space, which users are shown.
    public let realm: String
    let options: Options
    let source: Source
    let checker: PasswordChecker
    let nonces: Locked<NonceTable>
    let failures = Locked(FailureTable())
    let algorithms: [DigestAlgorithm]
    /// Used in place of the secrets of unknown users.
    let absentSecrets: [DigestAlgorithm: DigestSecret]
    /// Nonces are ours when they were made with it.
    let nonceKey = Crypto.random(32)
    let opaque = Hex.text(of: Crypto.random(16))
    let clock: @Sendable () -> UInt64
    /// Keeps nonces from telling how long the system runs.
    let nonceEpoch = UInt64.random(in: 0..<1 << 60)

    /// Creates an authenticator for the accounts of a store.
    /// - Parameters:
    ///   - accounts: where accounts are found; its realm is announced.
    ///   - options: what is offered and remembered.
    public convenience init(accounts: some AccountStore, options: Options = Options()) {
        self.init(accounts: accounts, options: options, clock: { Syscalls.monotonic() })
    }

    /// Creates an authenticator with Basic alone, whose passwords another service checks, such as a
    /// directory.
    /// - Parameters:
    ///   - realm: the name of the protection space, free of control characters.
    ///   - options: what is offered and remembered; a right password is right for
    ///     `passwordLifetime`, whatever becomes of the account.
    ///   - verify: whether name and password are right. It should take the same time with an
    ///     unknown user as with a wrong password. It must not block.
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
    ///   - clock: nanoseconds that only go forward.
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
        precondition(FieldValues.quoted(realm) != nil, "a realm has no control characters")
        precondition(!options.schemes.isEmpty, "some scheme has to be offered")
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

    /// How many right passwords and how many nonces are remembered.
    package var rememberedCounts: (passwords: Int, nonces: Int) {
        (checker.rememberedCount, nonces.withLock { $0.count })
    }

    /// The time that stands in nonces.
    var nonceTime: UInt64 { clock() &+ nonceEpoch }

    // MARK: Challenges

    /// The response to a request without credentials, or with wrong ones: 401 with a challenge for
    /// each scheme and algorithm (RFC 9110 section 11.6.1).
    /// - Parameters:
    ///   - isStale: the client knows the password and needs but a new nonce.
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
