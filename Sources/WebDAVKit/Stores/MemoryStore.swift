public import HTTPParser
public import HTTPServerCore
internal import ToolkitSystem

/// Resources in memory: for tests, and for content that a program creates.
public final class MemoryStore: ResourceStore {
    private struct Resource: Sendable {
        var content: [UInt8]?
        var modified: InternetTimestamp
        var created: InternetTimestamp
        var version: Int
        var properties: [DeadProperty] = []
        var propertyBytes = 0
        var description = ContentDescription()

        /// The approximate memory of the resource without its content, in bytes.
        func descriptionBytes(at path: ResourcePath) -> Int {
            path.bytes.count + propertyBytes + 200
        }

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
        private(set) var resources: [ResourcePath: Resource] = [:]
        /// The names of the members of each collection that is not empty.
        private var names: [ResourcePath: Set<[UInt8]>] = [:]
        /// Starts at random, because clients may have the entity tags of an earlier run.
        var version = Int.random(in: 0..<1 << 52)
        /// The bytes of all content, and those of names and properties, including the bin.
        private(set) var (used, described) = (0, 0)
        /// Discarded trees that can be restored: the path of the root, and all resources in it.
        private var bin: [String: (path: ResourcePath, resources: [ResourcePath: Resource])] = [:]

        mutating func add(_ path: ResourcePath, _ content: [UInt8]?) {
            version += 1
            let now = MemoryStore.now()
            var resource =
                resources[path]
                ?? Resource(
                    content: nil, modified: now, created: now, version: version)
            (resource.content, resource.modified, resource.version) = (content, now, version)
            put(resource, at: path)
        }

        /// Changes a resource, if it exists.
        mutating func change(_ path: ResourcePath, _ body: (inout Resource) -> Void) {
            guard var resource = resources[path] else { return }
            body(&resource)
            put(resource, at: path)
        }

        mutating func put(_ resource: Resource, at path: ResourcePath) {
            count(resource, path, 1)
            if let old = resources.updateValue(resource, forKey: path) {
                count(old, path, -1)
            } else if let parent = path.parent {
                names[parent, default: []].insert(path.name)
            }
        }

        mutating func take(_ path: ResourcePath) -> Resource? {
            guard let resource = resources.removeValue(forKey: path) else { return nil }
            count(resource, path, -1)
            guard let parent = path.parent else { return resource }
            names[parent]?.remove(path.name)
            if names[parent]?.isEmpty == true { names[parent] = nil }
            return resource
        }

        private mutating func count(_ resource: Resource, _ path: ResourcePath, _ sign: Int) {
            used += sign * (resource.content?.count ?? 0)
            described += sign * resource.descriptionBytes(at: path)
        }

        func members(of path: ResourcePath) -> [ResourceMember] {
            (names[path] ?? []).compactMap { name in
                resources[path.appending(name)].map { resource in
                    ResourceMember(
                        name: name, info: resource.info, properties: resource.properties)
                }
            }
        }

        /// A resource and everything inside of it, the outer resources first.
        func inside(_ path: ResourcePath) -> [ResourcePath] {
            var found = resources[path] == nil ? [] : [path]
            var index = 0
            while index < found.count {
                let outer = found[index]
                found += (names[outer] ?? []).map { outer.appending($0) }
                index += 1
            }
            return found
        }

        mutating func removeTree(_ path: ResourcePath) {
            for inner in inside(path) { _ = take(inner) }
        }

        mutating func discard(_ path: ResourcePath) -> String {
            var taken: [ResourcePath: Resource] = [:]
            for inner in inside(path) { taken[inner] = take(inner) }
            for (path, resource) in taken { count(resource, path, 1) }
            version += 1
            bin["\(version)"] = (path, taken)
            return "\(version)"
        }

        /// Takes a tree out of the bin; it no longer counts.
        mutating func takeDiscarded(
            _ name: String
        ) -> (path: ResourcePath, resources: [ResourcePath: Resource])? {
            guard let taken = bin.removeValue(forKey: name) else { return nil }
            for (path, resource) in taken.resources { count(resource, path, -1) }
            return taken
        }

        func hasDiscarded(_ name: String) -> Bool { bin[name] != nil }

        func requireParent(_ path: ResourcePath) throws(WebDAVError) {
            guard let parent = path.parent else { throw .forbidden }
            guard let outer = resources[parent], outer.content == nil else { throw .noParent }
        }
    }

    private let state = Locked(State())
    private let byteLimit: Int
    /// The limit of names and properties, because empty files and their properties use memory, too.
    private let descriptionLimit: Int

    /// Creates an empty store.
    /// - Parameter byteLimit: the most bytes of all files together; above it 507. The limit of
    ///   names and dead properties is the same, but at least 4 MiB.
    public init(byteLimit: Int = 64 << 20) {
        self.byteLimit = byteLimit
        descriptionLimit = max(byteLimit, 4 << 20)
        state.withLock { $0.add(.root, nil) }
    }

    private func requireRoom(
        _ state: State, content: Int = 0, description: Int
    ) throws(WebDAVError) {
        guard state.used + content <= byteLimit || content <= 0,
            state.described + description <= descriptionLimit || description <= 0
        else { throw .storageFull }
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
        let members = state.withLock { $0.members(of: path) }
        return ResourceMembers(members.sorted { $0.name.lexicographicallyPrecedes($1.name) })
    }

    /// Describes a file and returns its content.
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

    /// Writes staged content to a file.
    public func place(
        _ content: any StagedContent, at path: ResourcePath, modified: Int64?
    ) async throws -> ResourceInfo {
        guard let content = content as? CollectedContent else { throw WebDAVError.forbidden }
        return try change { state throws(WebDAVError) in
            try state.requireParent(path)
            if let old = state.resources[path], old.content == nil {
                throw WebDAVError(.methodNotAllowed)
            }
            let old = state.resources[path]
            try requireRoom(
                state, content: content.bytes.count - (old?.content?.count ?? 0),
                description: old == nil ? path.bytes.count + 200 : 0)
            state.add(path, content.bytes)
            state.change(path) { resource in
                resource.description = content.contentDescription
                if let modified {
                    resource.modified = InternetTimestamp(secondsSinceEpoch: modified)
                }
            }
            guard let info = state.resources[path]?.info else { throw .notFound }
            return info
        }
    }

    /// Combines the content of a file with other content from an offset on.
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
            try requireRoom(state, description: path.bytes.count + 200)
            state.add(path, nil)
        }
    }

    /// Removes a file or a tree.
    public func remove(_ path: ResourcePath) async throws -> [ResourceFailure] {
        _ = try resource(path)
        state.withLock { $0.removeTree(path) }
        return []
    }

    /// Moves a file or a tree to the bin, where it counts towards the limit until it is forgotten.
    public func discard(_ path: ResourcePath) async throws -> String? {
        _ = try resource(path)
        return state.withLock { $0.discard(path) }
    }

    /// Restores a discarded file or tree.
    public func restore(_ name: String, to path: ResourcePath) async throws {
        try change { state throws(WebDAVError) in
            guard state.hasDiscarded(name) else { throw .notFound }
            guard state.resources[path] == nil else { throw WebDAVError(.methodNotAllowed) }
            try state.requireParent(path)
            guard let taken = state.takeDiscarded(name) else { throw .notFound }
            for (old, resource) in taken.resources {
                state.put(resource, at: old.moved(from: taken.path, to: path))
            }
        }
    }

    /// Removes a discarded file or tree for good.
    public func forget(_ name: String) async {
        state.withLock { _ = $0.takeDiscarded(name) }
    }

    /// Copies a file or a tree.
    public func copy(
        _ path: ResourcePath, to destination: ResourcePath, deep: Bool, replaces: Bool
    ) async throws {
        try change { state throws(WebDAVError) in
            guard state.resources[path] != nil else { throw .notFound }
            try state.requireParent(destination)
            guard replaces || state.resources[destination] == nil else { throw .taken }
            let paths = deep ? state.inside(path) : [path]
            let copies = paths.compactMap { path in state.resources[path].map { (path, $0) } }
            try requireRoom(
                state, content: copies.reduce(0) { $0 + ($1.1.content?.count ?? 0) },
                description: copies.reduce(0) {
                    $0 + $1.1.descriptionBytes(at: $1.0.moved(from: path, to: destination))
                })
            state.removeTree(destination)
            for (old, resource) in copies {
                let new = old.moved(from: path, to: destination)
                state.add(new, resource.content)
                state.change(new) { copy in
                    (copy.properties, copy.propertyBytes) = (
                        resource.properties, resource.propertyBytes
                    )
                    copy.description = resource.description
                }
            }
        }
    }

    /// Moves a file or a tree.
    public func move(
        _ path: ResourcePath, to destination: ResourcePath, replaces: Bool
    ) async throws {
        try change { state throws(WebDAVError) in
            guard state.resources[path] != nil else { throw .notFound }
            try state.requireParent(destination)
            guard replaces || state.resources[destination] == nil else { throw .taken }
            guard path != destination else { return }
            // The source would be removed with its target, or be moved into itself.
            guard !path.isWithin(destination), !destination.isWithin(path) else {
                throw .forbidden
            }
            state.removeTree(destination)
            for old in state.inside(path) {
                guard let resource = state.take(old) else { continue }
                state.put(resource, at: old.moved(from: path, to: destination))
            }
        }
    }

    /// The dead properties of a resource.
    public func properties(of path: ResourcePath) async throws -> [DeadProperty] {
        try resource(path).properties
    }

    /// Changes dead properties.
    public func change(_ changes: [PropertyChange], of path: ResourcePath) async throws {
        let old = try resource(path)
        var properties = old.properties
        properties.apply(changes)
        let bytes = properties.isEmpty ? 0 : PropertyFile.encode(properties).count
        guard bytes <= PropertyFile.byteLimit else {
            throw WebDAVError(.insufficientStorage, "too many properties")
        }
        let kept = properties
        try change { state throws(WebDAVError) in
            try requireRoom(state, description: bytes - old.propertyBytes)
            state.change(path) { ($0.properties, $0.propertyBytes) = (kept, bytes) }
        }
    }

    /// Sets the time of the last change.
    public func setModified(_ seconds: Int64, of path: ResourcePath) async throws {
        try await setModified(InternetTimestamp(secondsSinceEpoch: seconds), of: path)
    }

    /// Sets the time of the last change, to the nanosecond.
    public func setModified(_ time: InternetTimestamp, of path: ResourcePath) async throws {
        _ = try resource(path)
        state.withLock { $0.change(path) { $0.modified = time } }
    }

    /// The used bytes, and the rest of the limit.
    public func quota(at path: ResourcePath) async throws -> StorageQuota? {
        let used = state.withLock { $0.used }
        return StorageQuota(available: Int64(byteLimit - used), used: Int64(used))
    }
}
