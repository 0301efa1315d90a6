internal import HTTPCodecs
public import HTTPParser
internal import ToolkitSystem

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The cookies of one or several sessions, in memory and optionally in a file.
///
/// ```swift
/// let cookies = CookieStorage(file: "cookies.json")
/// var configuration = ClientConfiguration.default
/// configuration.cookies = cookies
/// ```
///
/// Any thread may use it. RFC 6265bis.
public final class CookieStorage: Sendable {
    private struct State {
        var jar: CookieJar
        var policy = CookieAcceptPolicy.onlyFromMainDocumentDomain
        var isChanged = false
    }

    /// The storage of sessions that are not configured with another one.
    public static let shared = CookieStorage()

    private let state: Locked<State>
    /// Held while the file is written: an older state must not replace a newer one.
    private let saving = Locked(false)
    private let file: CookieFile?
    /// The reason why the file was not loaded and must not be overwritten.
    private let refusal: StoreFiles.Refusal?

    /// The error because of which the file was not loaded and is left unchanged; nil if it was
    /// loaded, or there is no file.
    public var loadError: ClientError? {
        refusal.map { ClientError(.cannotOpenFile, "cookies: \($0)") }
    }

    /// Creates a storage in memory.
    /// - Parameters:
    ///   - limits: the most cookies that are kept.
    ///   - publicSuffixes: the domains below which anyone can register names.
    public init(
        limits: CookieLimits = CookieLimits(),
        publicSuffixes: any PublicSuffixes = SystemPublicSuffixes()
    ) {
        state = Locked(State(jar: CookieJar(limits: limits, suffixes: publicSuffixes)))
        (file, refusal) = (nil, nil)
    }

    /// Creates a storage with the cookies of a file. The file is written by ``save()``, and when
    /// the storage is released.
    ///
    /// A file that is missing or contains no cookies counts as empty. A file that cannot be read,
    /// or that a newer version has written, is left unchanged: no cookies are loaded, and
    /// ``save()`` throws an error.
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - format: the format of the file.
    ///   - limits: the most cookies that are kept.
    ///   - publicSuffixes: the domains below which anyone can register names.
    public init(
        file path: String, format: CookieFileFormat = .native,
        limits: CookieLimits = CookieLimits(),
        publicSuffixes: any PublicSuffixes = SystemPublicSuffixes()
    ) {
        var jar = CookieJar(limits: limits, suffixes: publicSuffixes)
        let file = CookieFile(path: path, format: format)
        let now = WallClock.now
        var refusal: StoreFiles.Refusal?
        do throws(StoreFiles.Refusal) {
            for cookie in try file.load(now: now) { jar.store(cookie, now: now) }
        } catch {
            refusal = error
        }
        self.refusal = refusal
        state = Locked(State(jar: jar))
        self.file = file
    }

    deinit { try? save() }

    /// The policy for storing the cookies of responses.
    public var acceptPolicy: CookieAcceptPolicy {
        get { state.withLock { $0.policy } }
        set { state.withLock { $0.policy = newValue } }
    }

    /// All cookies that have not expired, in the order in which they were set.
    public var cookies: [Cookie] {
        let now = WallClock.now
        return state.withLock { $0.jar.cookies }.filter { !$0.isExpired(at: now) }
    }

    /// The cookies that a request for the URL would send, in the order of the field.
    /// - Parameters:
    ///   - url: an http or https URL. Other URLs have no cookies.
    ///   - mainDocumentURL: the page that the request is for, if any.
    public func cookies(for url: URL, mainDocumentURL: URL? = nil) -> [Cookie] {
        guard let context = CookieContext(url: url, mainDocumentURL: mainDocumentURL) else {
            return []
        }
        return state.withLock { $0.jar.cookies(for: context, now: WallClock.now) }
    }

    /// Stores a cookie, and replaces the one with the same name, domain and path. The accept policy
    /// does not apply: it is for cookies of servers.
    public func store(_ cookie: Cookie) {
        change { $0.store(cookie, now: WallClock.now) }
    }

    /// Stores the cookies that a response sets.
    /// - Parameters:
    ///   - fields: the fields of the response; only Set-Cookie is read.
    ///   - url: the URL of the request.
    ///   - mainDocumentURL: the page that the request is for, if any.
    public func store(from fields: HTTPFields, for url: URL, mainDocumentURL: URL? = nil) {
        guard let context = CookieContext(url: url, mainDocumentURL: mainDocumentURL) else {
            return
        }
        receive(fields, from: context, now: WallClock.now)
    }

    /// Removes the cookie with the same name, domain and path.
    public func remove(_ cookie: Cookie) {
        change { jar in
            jar.removeAll { $0.isSame(as: cookie) }
            return true
        }
    }

    /// Removes all cookies, or those that were set since a time.
    /// - Parameter date: the earliest time of creation; nil for all cookies.
    public func removeAll(since date: HTTPDate? = nil) {
        change { jar in
            jar.removeAll { cookie in date.map { cookie.creation >= $0 } ?? true }
            return true
        }
    }

    /// Writes the file atomically, if there is one and something has changed. Only its owner may
    /// read it.
    /// - Throws: ``ClientError/Kind/cannotWriteFile``.
    public func save() throws(ClientError) {
        guard let file else { return }
        try saving.withLock { _ in write(to: file) }.get()
    }

    private func write(to file: CookieFile) -> Result<Void, ClientError> {
        let cookies = state.withLock { state -> [Cookie]? in
            guard state.isChanged else { return nil }
            state.isChanged = false
            return state.jar.cookies
        }
        guard let cookies else { return .success(()) }
        let now = WallClock.now
        do {
            if let refusal { throw refusal }
            try file.save(cookies.filter { !$0.isExpired(at: now) })
            return .success(())
        } catch {
            state.withLock { $0.isChanged = true }
            return .failure(ClientError(.cannotWriteFile, "cookies: \(file.path): \(error)"))
        }
    }

    // MARK: Within a transaction

    var isEmpty: Bool { state.withLock { $0.jar.count == 0 } }

    package func receive(_ fields: HTTPFields, from context: CookieContext, now: HTTPDate) {
        guard fields.contains(.setCookie) else { return }
        receive(fields.values(of: .setCookie).map { Array($0.utf8) }, from: context, now: now)
    }

    /// Takes the values of Set-Cookie, in the bytes in which they were received.
    /// - Parameter policy: the cookies that are stored; nil for ``acceptPolicy``.
    func receive(
        _ values: [[UInt8]], from context: CookieContext, policy: CookieAcceptPolicy? = nil,
        now: HTTPDate
    ) {
        state.withLock { state in
            for value in values {
                let text = String(validating: value, as: UTF8.self)
                let isTaken = state.jar.receive(
                    text ?? FieldLines.text(value[...]), isLatin1: text == nil, from: context,
                    policy: policy ?? state.policy, now: now)
                if isTaken { state.isChanged = true }
            }
        }
    }

    /// Whether cookies of a URL belong to another site than the page. A URL or a page that is not
    /// http or https belongs to no site; nor does an unknown URL.
    package func isCrossSite(_ url: URL?, mainDocumentURL: URL) -> Bool {
        guard let url, let context = CookieContext(url: url, mainDocumentURL: mainDocumentURL)
        else { return true }
        return state.withLock { $0.jar.isCrossSite(context) }
    }

    package func field(for context: CookieContext, now: HTTPDate) -> CookieField? {
        state.withLock { $0.jar.field(for: context, now: now) }
    }

    private func change(_ body: (inout CookieJar) -> Bool) {
        state.withLock { if body(&$0.jar) { $0.isChanged = true } }
    }
}

extension CookieContext {
    /// `nil` for a URL that is neither http nor https.
    init?(url: URL, mainDocumentURL: URL?, isSafe: Bool = true) {
        guard let wire = try? WireURL(url.absoluteString) else { return nil }
        self.init(wire, mainHost: Self.mainHost(of: mainDocumentURL), isSafe: isSafe)
    }

    /// The host of a page; `nil` without a page, and empty for one that is not http or https: it
    /// belongs to no site, so every request for it is cross-site (RFC 6265bis section 5.2).
    static func mainHost(of page: URL?) -> String? {
        guard let page else { return nil }
        return (try? WireURL(page.absoluteString))?.origin.host ?? ""
    }

    init(_ wire: WireURL, mainHost: String?, isSafe: Bool) {
        let path = wire.target.utf8.prefix { $0 != UInt8(ascii: "?") }
        self.init(
            origin: wire.origin, path: String(Substring(path)), mainHost: mainHost, isSafe: isSafe)
    }
}
