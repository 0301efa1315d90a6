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

/// Work on whole trees. Links inside of them are removed or copied as links; their targets are not
/// touched.
extension OpenDirectory {
    /// The deepest nesting of directories: each level holds a descriptor. Beyond it the error is
    /// `ENAMETOOLONG`.
    package static var depthLimit: Int { 512 }

    /// From this level on, a thread with a large stack does the work.
    private static var largeStackDepth: Int { 32 }

    /// Calls `body` for the members of a directory. At level 32 it runs on a thread with a larger
    /// stack: Dispatch's threads, with 512 KiB on Apple's systems, are too small for all levels.
    /// - Parameters:
    ///   - depth: the level of the directory.
    ///   - failure: the result if the system cannot create a thread.
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
    ///   - keeps: whether a file is kept, by its current attributes; a kept file is a fault.
    ///   - onRemoval: called with the attributes of each removed file and directory.
    /// - Returns: the entries that could not be removed.
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

    /// All names. They are read before any change, because a directory must not change meanwhile.
    package func names() throws(SystemError) -> [[UInt8]] {
        let reader = try DirectoryReader(self)
        var names: [[UInt8]] = []
        while let name = try reader.next() { names.append(name) }
        return names
    }

    /// Copies a file, a link or a directory to a name that does not exist yet.
    /// - Parameters:
    ///   - place: the new name.
    ///   - deep: whether the members of a directory are copied, too.
    ///   - isMove: whether the original is removed later, so nothing may be lost: a socket, pipe or
    ///     device in the tree is `EPERM` then, and left out otherwise.
    ///   - synchronizes: whether to wait until all of the copy is on the disk.
    ///   - leavingOut: a file or directory in the tree that is not copied.
    ///   - finish: called for each file and directory with the original and the copy.
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
                // Only the owner may access the copy until it is complete.
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
        // Bits that run a program with another user's rights are not copied. The others are set at
        // the start, so that the copy never gives others more access than the original. `finish` can
        // write extended attributes only while the owner may write.
        let permissions = status.permissions & 0o777
        let new = try place.directory.create(place.name, permissions | 0o200)
        do throws(SystemError) {
            try new.copyContent(of: old, size: status.size)
        } catch {
            // `finish` has not counted it, and removing the tree later would subtract its size.
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
    /// the bit by which new files get the group of their directory: the copy lacks that bit then.
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
    /// The error for directories nested deeper than ``OpenDirectory/depthLimit``.
    package static func tooDeep(_ call: String) -> SystemError {
        SystemError(call, code: ENAMETOOLONG)
    }
}
