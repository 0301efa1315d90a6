#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A name inside of a tree that could not be removed or copied, and why.
package struct TreeFault: Error, Sendable {
    /// The path inside of the tree; empty for its root.
    package var path: [UInt8]
    package var error: SystemError

    package init(path: [UInt8], error: SystemError) {
        self.path = path
        self.error = error
    }
}

/// Work on whole trees. Links inside of them are things of their own: nothing behind them is
/// touched.
extension OpenDirectory {
    /// The deepest nesting of directories: each level holds a descriptor. Beyond it the error is
    /// that of a path that is too long.
    package static var depthLimit: Int { 512 }

    /// From this level on a thread with a large stack works.
    private static var largeStackDepth: Int { 32 }

    /// Goes on inside of a directory. At the 32nd level a thread with a larger stack takes over:
    /// those of Dispatch, which has 512 KiB for each on Apple's systems, have no room for all levels.
    /// - Parameters:
    ///   - depth: the level of the directory.
    ///   - failure: the result where the system has no thread.
    package static func descend<Result>(
        to depth: Int, orElse failure: (SystemError) -> Result, _ body: () -> Result
    ) -> Result {
        guard depth == largeStackDepth else { return body() }
        return SystemThread.run(body) ?? failure(SystemError("pthread_create", code: EAGAIN))
    }

    /// The same for a body that throws.
    package static func descend<Value>(
        to depth: Int, _ body: () throws(SystemError) -> Value
    ) throws(SystemError) -> Value {
        try descend(to: depth, orElse: Result.failure) {
            Result { () throws(SystemError) in try body() }
        }.get()
    }

    /// Removes a file or a tree. Entries that cannot be removed stay, with the directories around
    /// them.
    /// - Parameters:
    ///   - keeps: whether a file stays, which is a fault, judged by what it is now.
    ///   - onRemoval: called with the attributes of each removed file and directory.
    /// - Returns: what could not be removed; empty when all is gone.
    package func removeTree(
        _ name: [UInt8], keeping keeps: ((FileStatus) -> Bool)? = nil,
        onRemoval: ((FileStatus) -> Void)? = nil
    ) -> [TreeFault] {
        removeTree(name, path: [], depth: 0, keeps, onRemoval)
    }

    private func removeTree(
        _ name: [UInt8], path: [UInt8], depth: Int, _ keeps: ((FileStatus) -> Bool)?,
        _ onRemoval: ((FileStatus) -> Void)?
    ) -> [TreeFault] {
        do throws(SystemError) {
            let status = try status(of: name)
            guard status.kind == .directory else {
                if keeps?(status) == true { throw SystemError("unlink", code: EBUSY) }
                try remove(name, isDirectory: false)
                onRemoval?(status)
                return []
            }
            guard depth < Self.depthLimit else { throw SystemError.tooDeep("unlink") }
            var faults: [TreeFault] = []
            let inner = try directory(name)
            for member in try inner.names() {
                let memberPath = path.isEmpty ? member : path + [0x2F] + member
                faults += Self.descend(
                    to: depth + 1, orElse: { [TreeFault(path: memberPath, error: $0)] }
                ) {
                    inner.removeTree(member, path: memberPath, depth: depth + 1, keeps, onRemoval)
                }
            }
            guard faults.isEmpty else { return faults }
            try remove(name, isDirectory: true)
            onRemoval?(status)
            return []
        } catch {
            return error.code == ENOENT ? [] : [TreeFault(path: path, error: error)]
        }
    }

    /// All names, read at once: a directory that is changed must not be read meanwhile.
    package func names() throws(SystemError) -> [[UInt8]] {
        let reader = try DirectoryReader(self)
        var names: [[UInt8]] = []
        while let name = try reader.next() { names.append(name) }
        return names
    }

    /// Copies what a name stands for to a place where nothing is.
    /// - Parameters:
    ///   - place: the new place.
    ///   - deep: whether what is in a directory is copied, too.
    ///   - isMove: whether the old one is to go, so that nothing may be lost: a socket, pipe or
    ///     device in the tree is `EPERM`, where otherwise it is left out.
    ///   - synchronizes: whether all of the copy is on the disk then.
    ///   - leavingOut: a file or directory that is not copied, though it is in the tree.
    ///   - finish: called for each file and directory with the old and the new one.
    package func copyTree(
        _ name: [UInt8], to place: FilePlace, deep: Bool, isMove: Bool, synchronizes: Bool,
        leavingOut: FileStatus?, finish: @Sendable (OpenFile, OpenFile) throws(SystemError) -> Void
    ) throws(TreeFault) {
        try copyTree(
            name, to: place, deep: deep, isMove: isMove, synchronizes, path: [], 0, leavingOut,
            finish)
    }

    private func copyTree(
        _ name: [UInt8], to place: FilePlace, deep: Bool, isMove: Bool, _ synchronizes: Bool,
        path: [UInt8], _ depth: Int, _ leavingOut: FileStatus?,
        _ finish: @Sendable (OpenFile, OpenFile) throws(SystemError) -> Void
    ) throws(TreeFault) {
        var members: (OpenDirectory, OpenDirectory, [[UInt8]])?
        do throws(SystemError) {
            let status = try status(of: name)
            if let leavingOut, status.isSameFile(as: leavingOut) { return }
            if status.isLink { return try copyLink(name, to: place) }
            switch status.kind {
            case .regular: try copyFile(name, status, to: place, synchronizes, finish)
            case .directory:
                guard depth < Self.depthLimit else { throw SystemError.tooDeep("copy") }
                let old = try directory(name)
                // Closed to others until it is whole.
                try place.directory.makeDirectory(place.name, 0o700)
                let new = try place.directory.directory(place.name)
                members = (old, new, deep ? try old.names() : [])
            case .other: if isMove { throw SystemError("copy", code: EPERM) }
            }
        } catch {
            throw TreeFault(path: path, error: error)
        }
        guard let (old, new, names) = members else { return }
        @Sendable func copyMember(_ member: [UInt8]) throws(TreeFault) {
            let inner = path.isEmpty ? member : path + [0x2F] + member
            let target = FilePlace(directory: new, name: member)
            try Self.descend(
                to: depth + 1, orElse: { .failure(TreeFault(path: inner, error: $0)) }
            ) {
                Result { () throws(TreeFault) in
                    try old.copyTree(
                        member, to: target, deep: true, isMove: isMove, synchronizes, path: inner,
                        depth + 1, leavingOut, finish)
                }
            }.get()
        }
        // A second thread would have a small stack.
        if depth < Self.largeStackDepth {
            try BlockingPool.inHalves(of: names, copyMember)
        } else {
            for name in names { try copyMember(name) }
        }
        do throws(SystemError) {
            try finish(old.file, new.file)
            try new.file.setCopiedPermissions(try old.file.status().permissions)
            if synchronizes { try new.file.synchronize() }
        } catch {
            throw TreeFault(path: path, error: error)
        }
    }

    private func copyFile(
        _ name: [UInt8], _ status: FileStatus, to place: FilePlace, _ synchronizes: Bool,
        _ finish: (OpenFile, OpenFile) throws(SystemError) -> Void
    ) throws(SystemError) {
        let old = try open(name)
        // Bits that run a program with another user's rights are not copied. The others hold from the
        // start, so that nobody reads from the copy what the original keeps private.
        let permissions = status.permissions & 0o777
        let new = try place.directory.create(place.name, permissions)
        do throws(SystemError) {
            try new.copyContent(of: old, size: status.size)
        } catch {
            // `finish` has not counted it, and the removal of the tree would take its size off.
            try? place.directory.remove(place.name, isDirectory: false)
            throw error
        }
        try finish(old, new)
        // Reading the attributes costs much less than setting them.
        if try new.status().permissions != permissions { try new.setPermissions(permissions) }
        if synchronizes { try new.synchronize() }
    }
}

extension OpenFile {
    /// Gives a copied directory the permissions of the old one. systemd's RestrictSUIDSGID= refuses
    /// the bit by which new files get the group of their directory: the copy goes without it then.
    fileprivate func setCopiedPermissions(_ permissions: UInt16) throws(SystemError) {
        do throws(SystemError) {
            try setPermissions(permissions)
        } catch {
            guard error.code == EPERM, permissions & 0o6000 != 0 else { throw error }
            try setPermissions(permissions & 0o1777)
        }
    }
}

extension SystemError {
    /// A directory is nested deeper than ``OpenDirectory`` goes.
    package static func tooDeep(_ call: String) -> SystemError {
        SystemError(call, code: ENAMETOOLONG)
    }
}
