internal import HTTPCodecs
public import HTTPParser
internal import ToolkitSystem

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The cookies of one or several sessions, in memory or in a file besides.
///
/// ```swift
/// let cookies = CookieStorage(file: "cookies.json")
/// var configuration = ClientConfiguration.default
/// configuration.cookies = cookies
/// ```
///
/// It may be used from everywhere. RFC 6265bis.
public final class CookieStorage: Sendable {
    private struct State {
        var jar: CookieJar
        var policy = CookieAcceptPolicy.onlyFromMainDocumentDomain
        var isChanged = false
    }

    /// The one that sessions share unless they are given another.
    public static let shared = CookieStorage()

    private let state: Locked<State>
    /// Held while the file is written: an older state must not replace a newer one.
    private let saving = Locked(false)
    private let file: CookieFile?
    /// Why the file is left as it is.
    private let refusal: StoreFiles.Refusal?

    /// Why nothing came from the file, which is left as it is; nil for a file that was read, and
    /// without one.
    public var loadError: ClientError? {
        refusal.map { ClientError(.cannotOpenFile, "cookies: \($0)") }
    }

    /// Creates a storage that is forgotten with the process.
    /// - Parameters:
    ///   - limits: how many cookies are kept.
    ///   - publicSuffixes: below which domains anybody can register names.
    public init(
        limits: CookieLimits = CookieLimits(),
        publicSuffixes: any PublicSuffixes = SystemPublicSuffixes()
    ) {
        state = Locked(State(jar: CookieJar(limits: limits, suffixes: publicSuffixes)))
        (file, refusal) = (nil, nil)
    }

    /// Creates a storage with the cookies of a file, which is written by ``save()``, and when the
    /// storage goes.
    ///
    /// A file that is not there, or is none of cookies, is as good as an empty one. One that cannot
    /// be read, or that a newer version has written, is left as it is: nothing comes from it, and
    /// ``save()`` throws an error.
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - format: how cookies are written there.
    ///   - limits: how many cookies are kept.
    ///   - publicSuffixes: below which domains anybody can register names.
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

    /// Which cookies are stored.
    public var acceptPolicy: CookieAcceptPolicy {
        get { state.withLock { $0.policy } }
        set { state.withLock { $0.policy = newValue } }
    }

    /// All cookies that have not ended, the ones that were set first in front.
    public var cookies: [Cookie] {
        let now = WallClock.now
        return state.withLock { $0.jar.cookies }.filter { !$0.isExpired(at: now) }
    }

    /// The cookies that a request for the URL carries, in the order of the field.
    /// - Parameters:
    ///   - url: the URL, http or https; none for others.
    ///   - mainDocumentURL: the page that the request is for, if there is one.
    public func cookies(for url: URL, mainDocumentURL: URL? = nil) -> [Cookie] {
        guard let context = CookieContext(url: url, mainDocumentURL: mainDocumentURL) else {
            return []
        }
        return state.withLock { $0.jar.cookies(for: context, now: WallClock.now) }
    }

    /// Stores a cookie in the place of the one with its name, domain and path. The accept policy
    /// does not matter: it is for what servers send.
    public func store(_ cookie: Cookie) {
        change { $0.store(cookie, now: WallClock.now) }
    }

    /// Stores what a response sets.
    /// - Parameters:
    ///   - fields: the fields of the response, of which those named Set-Cookie count.
    ///   - url: the URL that was asked.
    ///   - mainDocumentURL: the page that the request is for, if there is one.
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
    /// - Parameter date: from when on; nil for all.
    public func removeAll(since date: HTTPDate? = nil) {
        change { jar in
            jar.removeAll { cookie in date.map { cookie.creation >= $0 } ?? true }
            return true
        }
    }

    /// Writes the file, if there is one and something has changed: whole or not at all. Only its
    /// owner may read it.
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

    /// Takes the values of Set-Cookie in the bytes in which they came.
    /// - Parameter policy: which of them are stored; nil for what ``acceptPolicy`` says.
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

    /// Whether cookies of a URL are set for a page of another site. A URL or a page that is not of
    /// http or https belongs to no site, and so does a URL that is not known.
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

    /// The host of a page; `nil` without a page, and empty for one that is not of http or https: it
    /// belongs to no site, so every request for it goes to another one (RFC 6265bis section 5.2).
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
