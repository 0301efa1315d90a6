internal import HTTPParser
public import HTTPServerCore

/// Where resources are kept: a tree of collections and files with dead properties.
///
/// Calls that fail throw `WebDAVError`; other errors become 500. A handler sees to it that no two
/// calls that change something below the same path run at the same time; calls that read may run at
/// any time.
public protocol ResourceStore: Sendable {
    /// The path by which the store knows what a client means, such as another Unicode form of a
    /// name; the path itself when there is nothing to find.
    func resolved(_ path: ResourcePath) async throws -> ResourcePath

    /// The one of all paths to a resource by which locks and what changes it know it: that without
    /// links in it, with each name as it is kept.
    ///
    /// A handler gives a store no other path for what changes something.
    /// - Parameters:
    ///   - path: a path that `resolved` has given.
    ///   - followsLast: whether the resource is what a link at the end of the path leads to, and
    ///     not the link.
    func canonical(_ path: ResourcePath, followsLast: Bool) async throws -> ResourcePath

    /// Whether something has a name, though it may be nothing that clients are shown.
    func isTaken(_ path: ResourcePath) async throws -> Bool

    /// What is known of a resource.
    /// - Throws: `WebDAVError` with 404 when there is none.
    func info(at path: ResourcePath) async throws -> ResourceInfo

    /// The members of a collection.
    /// - Parameters:
    ///   - path: the collection.
    ///   - withProperties: whether their dead properties are wanted.
    func members(
        of path: ResourcePath, withProperties: Bool
    ) async throws -> ResourceMembers

    /// A file: what is known of it, and its content.
    func read(_ path: ResourcePath) async throws -> (info: ResourceInfo, body: ResponseBody)

    /// Takes the content of a request, whole, or throws.
    /// - Parameters:
    ///   - body: the content.
    ///   - path: where it is meant for.
    ///   - expected: how many bytes are to come, where the client has told it.
    func stage(
        _ body: RequestBody, for path: ResourcePath, expected: Int64?
    ) async throws -> any StagedContent

    /// Gives a file its content, at once and whole. Dead properties of a file that was there stay.
    /// - Parameters:
    ///   - content: what `stage` has made.
    ///   - path: where; the collection around it has to be there.
    ///   - modified: when the content was changed last, if the client has told it.
    func place(
        _ content: any StagedContent, at path: ResourcePath, modified: Int64?
    ) async throws -> ResourceInfo

    /// The same after a last look at what is there.
    ///
    /// Whoever implements it may find out and write with fewer steps than two calls take.
    /// - Parameters:
    ///   - content: what `stage` has made.
    ///   - path: where.
    ///   - modified: when the content was changed last, if the client has told it.
    ///   - check: is given what is known of the resource, `nil` where there is none; when it throws,
    ///     nothing is changed.
    /// - Returns: whether there was none before, and what is known of it now.
    /// - Throws: `WebDAVError` with 409, before `check` is called, where the collection around it is
    ///   missing; what `check` throws.
    func place(
        _ content: any StagedContent, at path: ResourcePath, modified: Int64?,
        ifAllowed check: (ResourceInfo?) async throws -> Void
    ) async throws -> (isNew: Bool, info: ResourceInfo)

    /// Makes the content of a file with other content from an offset on, without changing the file.
    /// - Parameters:
    ///   - content: what `stage` has made.
    ///   - path: the file, which is at least as long as `offset`.
    ///   - offset: where the content begins.
    func splice(
        _ content: any StagedContent, into path: ResourcePath, at offset: Int64
    ) async throws -> any StagedContent

    /// Makes a collection.
    /// - Throws: `WebDAVError` with 405 when there is something, 409 when the collection around it
    ///   is missing.
    func makeCollection(at path: ResourcePath) async throws

    /// Removes a resource, with all members.
    /// - Returns: what could not be removed; it stays with the collections around it.
    func remove(_ path: ResourcePath) async throws -> [ResourceFailure]

    /// Takes a resource away, with all members, to where no client sees it, so that it can be put back.
    ///
    /// A store removes what is still there when it closes, and what another one has left when it opens.
    /// - Returns: the name by which it is put back; `nil` where that cannot be done, and nothing was
    ///   changed.
    func discard(_ path: ResourcePath) async throws -> String?

    /// Puts back what `discard` has taken away.
    /// - Parameters:
    ///   - name: what `discard` has returned.
    ///   - path: where; the collection around it has to be there.
    /// - Throws: `WebDAVError` with 404 when it is not there any more, 405 when something has the path.
    func restore(_ name: String, to path: ResourcePath) async throws

    /// Removes what `discard` has taken away, for good.
    func forget(_ name: String) async

    /// Copies a resource with its dead properties. What is at the destination is replaced by the
    /// whole copy at once, or stays.
    /// - Parameters:
    ///   - path: what is copied.
    ///   - destination: where the copy is to be.
    ///   - deep: whether members are copied, too.
    func copy(_ path: ResourcePath, to destination: ResourcePath, deep: Bool) async throws

    /// Moves a resource with its dead properties. What is at the destination is replaced at once,
    /// or stays.
    func move(_ path: ResourcePath, to destination: ResourcePath) async throws

    /// Whether two paths are one resource, or one of them is inside of the other, links and
    /// spellings considered.
    func overlap(_ path: ResourcePath, _ other: ResourcePath) async throws -> Bool

    /// The dead properties of a resource.
    func properties(of path: ResourcePath) async throws -> [DeadProperty]

    /// The dead properties of a resource, and the media type that came with its content.
    func details(of path: ResourcePath) async throws -> ResourceDetails

    /// Changes dead properties, all or none, in the order given.
    func change(_ changes: [PropertyChange], of path: ResourcePath) async throws

    /// Sets when a resource was changed last.
    func setModified(_ seconds: Int64, of path: ResourcePath) async throws

    /// How much room there is; `nil` when that is not known.
    func quota(at path: ResourcePath) async throws -> StorageQuota?

    /// Runs what calls the store several times, on a thread where that costs least.
    /// - Parameter body: what is to be run, once, before this returns.
    /// - Returns: what `body` does.
    /// - Throws: what `body` does.
    func perform<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result
}

extension ResourceStore {
    /// The path itself.
    public func resolved(_ path: ResourcePath) async throws -> ResourcePath { path }

    /// The path itself.
    public func canonical(
        _ path: ResourcePath, followsLast: Bool
    ) async throws -> ResourcePath { path }

    /// Whether there is a resource.
    public func isTaken(_ path: ResourcePath) async throws -> Bool {
        try await infoIfThere(path) != nil
    }

    /// Asks for both.
    public func details(of path: ResourcePath) async throws -> ResourceDetails {
        ResourceDetails(
            properties: try await properties(of: path),
            content: try await info(at: path).content)
    }

    /// Compares the paths.
    public func overlap(
        _ path: ResourcePath, _ other: ResourcePath
    ) async throws -> Bool {
        path.isWithin(other) || other.isWithin(path)
    }

    /// Refused.
    public func setModified(_ seconds: Int64, of path: ResourcePath) async throws {
        throw WebDAVError.forbidden
    }

    /// Nothing is done: there is no bin.
    public func discard(_ path: ResourcePath) async throws -> String? { nil }

    /// Not found: there is no bin.
    public func restore(_ name: String, to path: ResourcePath) async throws {
        throw WebDAVError.notFound
    }

    /// Nothing is there.
    public func forget(_ name: String) async {}

    /// Looks at the resource, and at the collection around it where there is none.
    public func place(
        _ content: any StagedContent, at path: ResourcePath, modified: Int64?,
        ifAllowed check: (ResourceInfo?) async throws -> Void
    ) async throws -> (isNew: Bool, info: ResourceInfo) {
        let old = try await infoIfThere(path)
        if old == nil { try await requireParent(of: path) }
        try await check(old)
        return (old == nil, try await place(content, at: path, modified: modified))
    }

    /// Refused: 501.
    public func splice(
        _ content: any StagedContent, into path: ResourcePath, at offset: Int64
    ) async throws -> any StagedContent {
        throw WebDAVError(.notImplemented, "parts of files are not taken here")
    }

    /// Runs it where the caller is.
    public func perform<Result: Sendable>(
        _ body: () async throws -> Result
    ) async throws -> Result {
        try await body()
    }

    /// Not known.
    public func quota(at path: ResourcePath) async throws -> StorageQuota? { nil }

    /// 409 unless there is a collection around a resource.
    package func requireParent(of path: ResourcePath) async throws {
        guard let parent = path.parent, !parent.isRoot else { return }
        guard let info = try await infoIfThere(parent), info.isCollection
        else { throw WebDAVError.noParent }
    }

    /// What is known of a resource; `nil` when there is none.
    package func infoIfThere(_ path: ResourcePath) async throws -> ResourceInfo? {
        do {
            return try await info(at: path)
        } catch let error as WebDAVError where error.status == .notFound {
            return nil
        }
    }
}
