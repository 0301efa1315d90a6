public import HTTPParser
public import HTTPServerCore

/// A tree of collections and files with dead properties, to which WebDAV gives access.
///
/// A store implements six members: ``info(at:)``, ``members(of:withProperties:)``, ``read(_:)``,
/// ``write(_:to:modified:)``, ``makeCollection(at:)`` and ``remove(_:)``. All others have defaults,
/// which a store may replace; <doc:AStoreOfYourOwn> shows when it should.
///
/// Calls that fail throw `WebDAVError`; other errors become 500. A handler never runs two changes
/// of overlapping paths at the same time. Calls that read may run at any time.
public protocol ResourceStore: Sendable {
    // MARK: Required members

    /// Describes a resource.
    /// - Throws: `WebDAVError.notFound` if it is missing.
    func info(at path: ResourcePath) async throws -> ResourceInfo

    /// The members of a collection.
    /// - Parameters:
    ///   - path: the collection.
    ///   - withProperties: whether the caller needs the members' dead properties.
    func members(
        of path: ResourcePath, withProperties: Bool
    ) async throws -> ResourceMembers

    /// Describes a file and returns its content.
    func read(_ path: ResourcePath) async throws -> (info: ResourceInfo, body: ResponseBody)

    /// Replaces the content of a file, or creates the file. Dead properties of an existing file
    /// stay.
    /// - Parameters:
    ///   - bytes: the whole content.
    ///   - path: the file; its parent must exist.
    ///   - modified: when the content was last changed, in seconds since 1970, if the client sent
    ///     it.
    func write(
        _ bytes: [UInt8], to path: ResourcePath, modified: Int64?
    ) async throws -> ResourceInfo

    /// Creates a collection.
    /// - Throws: `WebDAVError` with 405 when the path is taken, 409 when the parent is missing.
    func makeCollection(at path: ResourcePath) async throws

    /// Removes a resource with all of its members.
    /// - Returns: the resources that could not be removed; they and their ancestors stay.
    func remove(_ path: ResourcePath) async throws -> [ResourceFailure]

    // MARK: Names

    /// The path under which the store holds the resource that a client names, for example with
    /// another Unicode form of a name. By default the path itself.
    func resolved(_ path: ResourcePath) async throws -> ResourcePath

    /// The canonical path of a resource: symbolic links resolved and each name spelled as stored.
    /// Locks and changes always use it. By default the path itself.
    /// - Parameters:
    ///   - path: a path that `resolved` returned.
    ///   - followsLast: whether a link at the end of the path is resolved, too.
    func canonical(_ path: ResourcePath, followsLast: Bool) async throws -> ResourcePath

    /// Whether a name is taken, even by something that clients never see.
    func isTaken(_ path: ResourcePath) async throws -> Bool

    /// Whether two paths name the same resource or one contains the other, after links are
    /// resolved.
    func overlap(_ path: ResourcePath, _ other: ResourcePath) async throws -> Bool

    // MARK: Large content

    /// The most bytes that the default of `stage` keeps in memory; longer content is refused
    /// with 507.
    var stagedByteLimit: Int { get }

    /// Reads the content of a request completely, without changing any resource.
    ///
    /// The default collects it in memory as ``CollectedContent``. A store that replaces it replaces
    /// ``place(_:at:modified:)`` as well.
    /// - Parameters:
    ///   - body: the content.
    ///   - path: the file that will get it.
    ///   - expected: the number of bytes, if the client announced it.
    func stage(
        _ body: RequestBody, for path: ResourcePath, expected: Int64?
    ) async throws -> any StagedContent

    /// Makes staged content the content of a file in one step. Dead properties of an existing file
    /// stay.
    /// - Parameters:
    ///   - content: the result of `stage`.
    ///   - path: the file; its parent must exist.
    ///   - modified: when the content was last changed, in seconds since 1970, if the client sent
    ///     it.
    func place(
        _ content: any StagedContent, at path: ResourcePath, modified: Int64?
    ) async throws -> ResourceInfo

    /// Places content after a last check of the resource that it replaces.
    ///
    /// A store may implement this with fewer steps than two separate calls need.
    /// - Parameters:
    ///   - content: the result of `stage`.
    ///   - path: the file.
    ///   - modified: when the content was last changed, in seconds since 1970, if the client sent
    ///     it.
    ///   - check: gets the description of the existing resource, if any; when it throws, nothing
    ///     changes.
    /// - Returns: whether the file is new, and its description.
    /// - Throws: `WebDAVError` with 409, before `check` runs, when the parent is missing; the error
    ///   of `check`.
    func place(
        _ content: any StagedContent, at path: ResourcePath, modified: Int64?,
        ifAllowed check: (ResourceInfo?) async throws -> Void
    ) async throws -> (isNew: Bool, info: ResourceInfo)

    /// Combines the content of a file with other content from an offset on, without changing the
    /// file.
    /// - Parameters:
    ///   - content: the result of `stage`.
    ///   - path: the file, which is at least `offset` bytes long.
    ///   - offset: where `content` begins in the result.
    func splice(
        _ content: any StagedContent, into path: ResourcePath, at offset: Int64
    ) async throws -> any StagedContent

    // MARK: Trees

    /// Copies a resource with its dead properties. Handlers have checked that source and
    /// destination do not ``overlap(_:_:)``.
    ///
    /// The default copies member by member, so other clients can see an unfinished copy. A store
    /// that replaces it can make the whole copy appear at once.
    /// - Parameters:
    ///   - path: the source.
    ///   - destination: the path of the copy.
    ///   - deep: whether members are copied, too.
    ///   - replaces: whether a resource at the destination is replaced. Handlers have checked the
    ///     destination, but another program may have made a resource since.
    /// - Throws: `WebDAVError.notFound` if the source is missing, and `WebDAVError.taken` if the
    ///   destination must not be replaced; nothing changes then.
    func copy(
        _ path: ResourcePath, to destination: ResourcePath, deep: Bool, replaces: Bool
    ) async throws

    /// Moves a resource with its dead properties. Handlers have checked that source and
    /// destination do not ``overlap(_:_:)``, unless the destination is another spelling of the
    /// source's name.
    ///
    /// The default copies and then removes the source. It does not copy links, so links are lost.
    /// - Parameters:
    ///   - path: the source.
    ///   - destination: the new path.
    ///   - replaces: whether a resource at the destination is replaced.
    /// - Throws: `WebDAVError.notFound` if the source is missing, and `WebDAVError.taken` if the
    ///   destination must not be replaced; nothing changes then.
    func move(
        _ path: ResourcePath, to destination: ResourcePath, replaces: Bool
    ) async throws

    // MARK: The bin

    /// Moves a resource with all members to the bin, from which it can be restored.
    ///
    /// A store empties the bin when it closes, and removes leftovers of an earlier run when it
    /// opens.
    /// - Returns: the name for `restore`; `nil` when the store has no bin and nothing changed.
    func discard(_ path: ResourcePath) async throws -> String?

    /// Restores a discarded resource.
    /// - Parameters:
    ///   - name: the result of `discard`.
    ///   - path: the path of the restored resource; its parent must exist.
    /// - Throws: `WebDAVError` with 404 if it is no longer in the bin, 405 if the path is taken.
    func restore(_ name: String, to path: ResourcePath) async throws

    /// Removes a discarded resource for good.
    func forget(_ name: String) async

    // MARK: Properties

    /// The dead properties of a resource.
    func properties(of path: ResourcePath) async throws -> [DeadProperty]

    /// The dead properties of a resource, and the description that a client sent with its content.
    func details(of path: ResourcePath) async throws -> ResourceDetails

    /// Applies changes of dead properties in order, all or none.
    func change(_ changes: [PropertyChange], of path: ResourcePath) async throws

    /// Sets the time of the last change, in seconds since 1970.
    func setModified(_ seconds: Int64, of path: ResourcePath) async throws

    /// Sets the time of the last change back, after a refused change. The time must be exact if the
    /// entity tag depends on it, because otherwise the tag would change.
    ///
    /// The default sets whole seconds.
    func setModified(_ time: InternetTimestamp, of path: ResourcePath) async throws

    // MARK: Space and threads

    /// The free and used space; `nil` if unknown.
    func quota(at path: ResourcePath) async throws -> StorageQuota?

    /// Runs a body that calls the store several times, on the thread on which these calls cost
    /// least.
    /// - Parameter body: runs once, before this returns.
    /// - Returns: the result of `body`.
    /// - Throws: the error of `body`.
    func perform<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result
}
