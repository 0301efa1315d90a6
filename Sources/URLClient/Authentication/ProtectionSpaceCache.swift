package import HTTPParser

/// The user in whose name a request is sent.
package enum RequestUser: Sendable {
    /// The request has its own credential, and gets no other.
    case own(ClientCredential)
    /// The user of the session: an answer to a challenge that was not stored, or else the stored
    /// credential.
    case session(CredentialStorage)
}

/// The protection spaces in which the users of a session have logged in: later requests are sent
/// with credentials without waiting for a challenge (RFC 7617 section 2.2, RFC 7616 section 3.6).
package struct ProtectionSpaceCache: Sendable {
    private struct Known: Sendable {
        let space: ProtectionSpace
        let credential: ClientCredential
        /// The revision of the storage at which a challenge was answered with a credential that is
        /// not stored; nil for other credentials. The answer is valid until the storage changes.
        var answered: UInt64?
        /// The paths below which the login is valid. A path with `?` at its end stands for itself
        /// only.
        var scopes: [String]
        var digest: DigestSession?

        func isSame(_ space: ProtectionSpace, _ credential: ClientCredential) -> Bool {
            self.space == space && self.credential == credential
        }
    }

    /// The credentials for a request.
    package struct Authorization: Sendable {
        /// The value of Authorization or Proxy-Authorization.
        package let value: String
        package let credential: ClientCredential
        /// The protection space of the credential.
        package let space: ProtectionSpace
    }

    private var origins: [Origin: [Known]] = [:]
    /// The most logins, and the most paths of a login, that are remembered for one origin.
    private static let limit = 32

    package init() {}

    /// Whether no login is remembered.
    var isEmpty: Bool { origins.isEmpty }

    /// The credentials for a request, if its user is known to need some.
    package mutating func authorization(
        origin: Origin, method: HTTPMethod, target: String, for user: RequestUser,
        isProxy: Bool = false
    ) -> Authorization? {
        guard var known = origins[origin],
            let index = Self.index(in: known, target, isProxy, user),
            let value = Self.value(&known[index], method, target)
        else { return nil }
        origins[origin] = known
        return Authorization(
            value: value, credential: known[index].credential, space: known[index].space)
    }

    /// The credential that a request would be sent with.
    package func credential(
        origin: Origin, target: String, for user: RequestUser
    ) -> ClientCredential? {
        guard let known = origins[origin], let index = Self.index(in: known, target, false, user)
        else { return nil }
        return known[index].credential
    }

    /// The index of the user's login with the longest path that covers a target; of several, the
    /// newest.
    private static func index(
        in known: [Known], _ target: String, _ isProxy: Bool, _ user: RequestUser
    ) -> Int? {
        // A proxy's credential is valid for all targets.
        let path = isProxy ? "/" : path(of: target)
        var best: (index: Int, length: Int)?
        for (index, entry) in known.enumerated() where entry.space.isProxy == isProxy {
            guard let length = longest(entry.scopes, covering: path), length >= best?.length ?? 0,
                isOf(user, entry, known)
            else { continue }
            best = (index, length)
        }
        return best?.index
    }

    /// Whether a login belongs to the user.
    private static func isOf(_ user: RequestUser, _ entry: Known, _ known: [Known]) -> Bool {
        switch user {
        case .own(let credential): return entry.credential == credential
        case .session(let storage):
            let revision = storage.revision(of: entry.space.origin)
            if let answered = entry.answered { return answered == revision }
            guard storage.credential(for: entry.space) == entry.credential else { return false }
            // The answer to a challenge is newer than what was stored before.
            return !known.contains { $0.space == entry.space && $0.answered == revision }
        }
    }

    private static func value(
        _ known: inout Known, _ method: HTTPMethod, _ target: String
    ) -> String? {
        switch known.credential {
        case .token(let token): return BearerAuthorization.value(token: token)
        case .password(let user, let password):
            guard known.space.scheme == .digest else {
                return BasicAuthorization.value(user: user, password: password)
            }
            return known.digest?.authorization(method: method.name, target: target)
        }
    }

    /// Remembers a login before its credential is sent.
    /// - Parameters:
    ///   - challenge: the challenge that the credential answers.
    ///   - credential: the credential.
    ///   - origin: the origin of the server or the proxy.
    ///   - target: the target of the refused request.
    ///   - answered: the revision of the storage, if the credential is an answer to a challenge
    ///     and not stored.
    ///   - carried: the protection space of the login that the refused request carried.
    ///   - cnonce: an unpredictable text that Digest needs.
    ///   - isProxy: whether a proxy asks.
    package mutating func enter(
        _ challenge: Challenges.Challenge, _ credential: ClientCredential, origin: Origin,
        target: String, answered: UInt64? = nil, carried: ProtectionSpace? = nil,
        cnonce: @autoclosure () -> String, isProxy: Bool = false
    ) {
        let space = ProtectionSpace(
            origin: origin, realm: challenge.realm, scheme: challenge.scheme, isProxy: isProxy)
        var known = origins[origin] ?? []
        let old = known.firstIndex { $0.isSame(space, credential) }.map { known.remove(at: $0) }
        var entry = Known(
            space: space, credential: credential, answered: answered, scopes: ["/"], digest: nil)
        if case .digest(let digest) = challenge, case .password(let user, let password) = credential
        {
            entry.digest = DigestSession(digest, user: user, password: password, cnonce: cnonce())
            if let earlier = old?.digest { entry.digest?.goOn(from: earlier) }
        }
        if !isProxy {
            let path = Self.path(of: target)
            entry.scopes = Self.scopes(
                of: challenge, origin, path, old?.scopes, hadLogin: carried != nil)
            if let carried, carried != space {
                let others = known.filter { $0.space == carried }.flatMap(\.scopes)
                Self.claim(path, from: others, &entry.scopes)
            }
            // The login is valid for the path of the refused request, even if `domain` omits it.
            if Self.longest(entry.scopes, covering: path) == nil {
                let exact = (old?.scopes ?? []).filter {
                    $0.utf8.last == UInt8(ascii: "?")
                        && !$0.utf8.dropLast().elementsEqual(path.utf8)
                }
                let room = max(1, Self.limit - entry.scopes.count)
                entry.scopes += (exact + [path + "?"]).suffix(room)
            }
        }
        // A space has one valid answer that is not stored: the last one.
        if answered != nil { known.removeAll { $0.space == space && $0.answered != nil } }
        known.append(entry)
        if known.count > Self.limit { known.removeFirst() }
        origins[origin] = known
    }

    /// The revision of the storage at which a challenge was answered with a login that is not
    /// stored; nil for other logins.
    func answered(_ space: ProtectionSpace, _ credential: ClientCredential) -> UInt64? {
        origins[space.origin]?.first { $0.isSame(space, credential) }?.answered
    }

    /// Forgets a login that was refused.
    package mutating func leave(_ space: ProtectionSpace, _ credential: ClientCredential) {
        origins[space.origin]?.removeAll { $0.isSame(space, credential) }
        if origins[space.origin]?.isEmpty == true { origins[space.origin] = nil }
    }

    /// Takes Authentication-Info of a response.
    /// - Parameter sent: the request's value of Authorization, which contains the nonce.
    package mutating func receive(info: String, origin: Origin, sent: String) {
        guard let nonce = AuthorizationField(sent)?["nonce"], var known = origins[origin] else {
            return
        }
        for index in known.indices where known[index].digest?.uses(nonce) == true {
            known[index].digest?.receive(info: info)
        }
        origins[origin] = known
    }

    package mutating func removeAll() { origins = [:] }

    // MARK: scopes

    /// The path of a target without dot segments: a path whose `..` leaves a scope is not below it.
    private static func path(of target: String) -> String {
        URIReference.removingDotSegments(
            String(Substring(target.utf8.prefix { $0 != UInt8(ascii: "?") })))
    }

    private static func covers(_ scope: String, _ path: String) -> Bool {
        // The scope covers this path only. Paths contain no query.
        if scope.utf8.last == UInt8(ascii: "?") {
            return scope.utf8.dropLast().elementsEqual(path.utf8)
        }
        return path.utf8.starts(with: scope.utf8)
            || (scope.utf8.count == path.utf8.count + 1 && scope.utf8.starts(with: path.utf8))
    }

    /// The length of the longest scope that covers a path; nil if none does.
    private static func longest(_ scopes: [String], covering path: String) -> Int? {
        var length: Int?
        for scope in scopes where covers(scope, path) {
            length = max(length ?? 0, scope.utf8.count)
        }
        return length
    }

    private static func merged(_ old: [String], _ new: [String]) -> [String] {
        let missing = new.filter { scope in !old.contains { scope.utf8.starts(with: $0.utf8) } }
        return Array((old + missing).suffix(limit))
    }

    /// The paths below which a login is valid.
    /// - Parameters:
    ///   - challenge: the challenge of the server.
    ///   - origin: the origin of the server.
    ///   - path: the path of the refused request.
    ///   - old: the previous paths, if the login is known.
    ///   - hadLogin: whether the refused request carried a login.
    private static func scopes(
        of challenge: Challenges.Challenge, _ origin: Origin, _ path: String, _ old: [String]?,
        hadLogin: Bool
    ) -> [String] {
        let named: [String]
        switch challenge {
        case .basic: return merged(old ?? [], [BasicAuthorization.scope(of: path)])
        case .bearer: named = ["/"]
        case .digest(let digest): named = domain(of: digest, origin)
        }
        // If other spaces share the origin, this one keeps only its known paths.
        return named == ["/"] && hadLogin ? old ?? named : named
    }

    /// Makes a login take precedence for a path over those of another space, of which one was sent
    /// although the server wants this login.
    private static func claim(_ path: String, from others: [String], _ scopes: inout [String]) {
        let others = others.filter { covers($0, path) }
        let length = longest(others, covering: path) ?? 0
        guard longest(scopes, covering: path) ?? 0 <= length else { return }
        // The other space keeps a scope that both have.
        scopes.removeAll { others.contains($0) }
        let folder = BasicAuthorization.scope(of: path)
        scopes.append(folder.utf8.count > length ? folder : path + "?")
        if scopes.count > limit { scopes.removeFirst() }
    }

    /// The paths of the references in `domain`, as far as they have the same origin (RFC 7616
    /// section 3.3). If none has, the credential is valid for the whole origin.
    private static func domain(of challenge: DigestChallenge, _ origin: Origin) -> [String] {
        let paths = challenge.domain.prefix(limit).compactMap { text -> String? in
            guard let reference = URIReference(field: text, base: "\(origin)/"),
                Origin(reference) == origin
            else { return nil }
            return reference.path.isEmpty ? "/" : reference.path
        }
        return paths.isEmpty ? ["/"] : paths
    }
}

extension DigestSession {
    /// Whether requests are currently made with the nonce.
    func uses(_ nonce: String) -> Bool { self.nonce == nonce }
}
