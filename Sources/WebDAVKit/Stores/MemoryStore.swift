internal import HTTPParser
public import HTTPServerCore
internal import ToolkitSystem

/// Resources in memory: for tests, and for content that is made by a program.
public final class MemoryStore: ResourceStore {
    private struct Resource: Sendable {
        var content: [UInt8]?
        var modified: InternetTimestamp
        var created: InternetTimestamp
        var version: Int
        var properties: [DeadProperty] = []
        var description = ContentDescription()

        var info: ResourceInfo {
            var info = ResourceInfo(
                isCollection: content == nil, length: Int64(content?.count ?? 0),
                modified: modified, created: created)
            if content != nil { info.entityTag = EntityTag(opaque: "\(version)") }
            info.content = description
            return info
        }
    }

    private struct State: Sendable {
        var resources: [ResourcePath: Resource] = [:]
        var version = 0
        var used = 0
        /// Discarded resources that can be put back: the path of the root, and all resources
        /// inside.
        var bin: [String: (path: ResourcePath, resources: [ResourcePath: Resource])] = [:]

        mutating func add(_ path: ResourcePath, _ content: [UInt8]?) -> Resource {
            version += 1
            let now = MemoryStore.now()
            var resource =
                resources[path]
                ?? Resource(
                    content: nil, modified: now, created: now, version: version)
            used += (content?.count ?? 0) - (resource.content?.count ?? 0)
            (resource.content, resource.modified, resource.version) = (content, now, version)
            resources[path] = resource
            return resource
        }

        func inside(_ path: ResourcePath) -> [ResourcePath] {
            resources.keys.filter { $0.isWithin(path) }
        }

        mutating func removeTree(_ path: ResourcePath) {
            for inner in inside(path) {
                used -= resources.removeValue(forKey: inner)?.content?.count ?? 0
            }
        }

        func requireParent(_ path: ResourcePath) throws(WebDAVError) {
            guard let parent = path.parent else { throw .forbidden }
            guard let outer = resources[parent], outer.content == nil else { throw .noParent }
        }
    }

    private let state = Locked(State())
    private let byteLimit: Int

    /// Creates an empty store.
    /// - Parameter byteLimit: the most bytes of all files together; above it 507.
    public init(byteLimit: Int = 64 << 20) {
        self.byteLimit = byteLimit
        state.withLock { _ = $0.add(.root, nil) }
    }

    private static func now() -> InternetTimestamp {
        let time = Syscalls.realtime()
        return InternetTimestamp(
            secondsSinceEpoch: time.seconds, nanoseconds: Int(time.nanoseconds))
    }

    private func resource(_ path: ResourcePath) throws(WebDAVError) -> Resource {
        guard let found = state.withLock({ $0.resources[path] }) else { throw .notFound }
        return found
    }

    private func change<Value: Sendable>(
        _ body: (inout State) throws(WebDAVError) -> Value
    ) throws(WebDAVError) -> Value {
        let result: Result<Value, WebDAVError> = state.withLock { state in
            do throws(WebDAVError) {
                return .success(try body(&state))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Describes a resource.
    public func info(at path: ResourcePath) async throws -> ResourceInfo { try resource(path).info }

    /// The members of a collection, in the order of their names.
    public func members(
        of path: ResourcePath, withProperties: Bool
    ) async throws -> ResourceMembers {
        guard try resource(path).content == nil else { throw WebDAVError.notFound }
        let members = state.withLock { state in
            state.resources.filter { $0.key.parent == path }.map { path, resource in
                ResourceMember(
                    name: path.name, info: resource.info, properties: resource.properties)
            }
        }
        return ResourceMembers(members.sorted { $0.name.lexicographicallyPrecedes($1.name) })
    }

    /// A file.
    public func read(_ path: ResourcePath) async throws -> (info: ResourceInfo, body: ResponseBody)
    {
        let found = try resource(path)
        guard let content = found.content else { throw WebDAVError.notFound }
        return (found.info, .bytes(content))
    }

    /// The limit of the store.
    public var stagedByteLimit: Int { byteLimit }

    /// Replaces the content of a file, or creates the file.
    public func write(
        _ bytes: [UInt8], to path: ResourcePath, modified: Int64?
    ) async throws -> ResourceInfo {
        try await place(CollectedContent(bytes), at: path, modified: modified)
    }

    /// Gives a file its content.
    public func place(
        _ content: any StagedContent, at path: ResourcePath, modified: Int64?
    ) async throws -> ResourceInfo {
        guard let content = content as? CollectedContent else { throw WebDAVError.forbidden }
        return try change { state throws(WebDAVError) in
            try state.requireParent(path)
            if let old = state.resources[path], old.content == nil {
                throw WebDAVError(.methodNotAllowed)
            }
            let old = state.resources[path]?.content?.count ?? 0
            guard state.used - old + content.bytes.count <= byteLimit else { throw .storageFull }
            _ = state.add(path, content.bytes)
            state.resources[path]?.description = content.contentDescription
            if let modified {
                state.resources[path]?.modified = InternetTimestamp(secondsSinceEpoch: modified)
            }
            guard let info = state.resources[path]?.info else { throw .notFound }
            return info
        }
    }

    /// Makes the content of a file with other content from an offset on.
    public func splice(
        _ content: any StagedContent, into path: ResourcePath, at offset: Int64
    ) async throws -> any StagedContent {
        guard let content = content as? CollectedContent, var all = try resource(path).content,
            offset <= all.count
        else { throw WebDAVError.forbidden }
        let start = Int(offset)
        all.replaceSubrange(
            start..<min(all.count, start + content.bytes.count), with: content.bytes)
        return CollectedContent(all)
    }

    /// Makes a collection.
    public func makeCollection(at path: ResourcePath) async throws {
        try change { state throws(WebDAVError) in
            guard state.resources[path] == nil else { throw WebDAVError(.methodNotAllowed) }
            try state.requireParent(path)
            _ = state.add(path, nil)
        }
    }

    /// Removes a file or a tree.
    public func remove(_ path: ResourcePath) async throws -> [ResourceFailure] {
        _ = try resource(path)
        state.withLock { $0.removeTree(path) }
        return []
    }

    /// Takes a file or a tree away; it counts for the limit until it is forgotten.
    public func discard(_ path: ResourcePath) async throws -> String? {
        _ = try resource(path)
        return state.withLock { state in
            var taken: [ResourcePath: Resource] = [:]
            for inner in state.inside(path) {
                taken[inner] = state.resources.removeValue(forKey: inner)
            }
            state.version += 1
            state.bin["\(state.version)"] = (path, taken)
            return "\(state.version)"
        }
    }

    /// Puts it back.
    public func restore(_ name: String, to path: ResourcePath) async throws {
        try change { state throws(WebDAVError) in
            guard let taken = state.bin[name] else { throw .notFound }
            guard state.resources[path] == nil else { throw WebDAVError(.methodNotAllowed) }
            try state.requireParent(path)
            for (old, resource) in taken.resources {
                state.resources[old.moved(from: taken.path, to: path)] = resource
            }
            state.bin[name] = nil
        }
    }

    /// Removes it for good.
    public func forget(_ name: String) async {
        state.withLock { state in
            let taken = state.bin.removeValue(forKey: name)?.resources ?? [:]
            state.used -= taken.values.reduce(0) { $0 + ($1.content?.count ?? 0) }
        }
    }

    /// Copies a file or a tree.
    public func copy(
        _ path: ResourcePath, to destination: ResourcePath, deep: Bool
    ) async throws {
        try change { state throws(WebDAVError) in
            try state.requireParent(destination)
            let paths = deep ? state.inside(path) : [path]
            let copies = paths.compactMap { path in state.resources[path].map { (path, $0) } }
            let bytes = copies.reduce(0) { $0 + ($1.1.content?.count ?? 0) }
            guard state.used + bytes <= byteLimit else { throw .storageFull }
            state.removeTree(destination)
            for (old, resource) in copies {
                let new = old.moved(from: path, to: destination)
                _ = state.add(new, resource.content)
                state.resources[new]?.properties = resource.properties
                state.resources[new]?.description = resource.description
            }
        }
    }

    /// Moves a file or a tree.
    public func move(_ path: ResourcePath, to destination: ResourcePath) async throws {
        try change { state throws(WebDAVError) in
            try state.requireParent(destination)
            state.removeTree(destination)
            for old in state.inside(path) {
                let new = old.moved(from: path, to: destination)
                state.resources[new] = state.resources.removeValue(forKey: old)
            }
        }
    }

    /// The dead properties of a resource.
    public func properties(of path: ResourcePath) async throws -> [DeadProperty] {
        try resource(path).properties
    }

    /// Changes dead properties.
    public func change(_ changes: [PropertyChange], of path: ResourcePath) async throws {
        var properties = try resource(path).properties
        properties.apply(changes)
        guard PropertyFile.encode(properties).count <= PropertyFile.byteLimit else {
            throw WebDAVError(.insufficientStorage, "too many properties")
        }
        let kept = properties
        state.withLock { $0.resources[path]?.properties = kept }
    }

    /// Sets the time of the last change.
    public func setModified(_ seconds: Int64, of path: ResourcePath) async throws {
        _ = try resource(path)
        state.withLock {
            $0.resources[path]?.modified = InternetTimestamp(secondsSinceEpoch: seconds)
        }
    }

    /// The rest of the limit.
    public func quota(at path: ResourcePath) async throws -> StorageQuota? {
        let used = state.withLock { $0.used }
        return StorageQuota(available: Int64(byteLimit - used), used: Int64(used))
    }
}
