/// Reads whole trees. Links inside of them are not followed.
extension OpenDirectory {
    /// The total size of the files in this directory and below. Unreadable entries count as 0.
    /// - Parameter isLeftOut: whether a name is left out, with everything inside.
    /// - Throws: a temporary error, because the size would be too small.
    package func contentBytes(
        leavingOut isLeftOut: ([UInt8]) -> Bool
    ) throws(SystemError) -> Int64 {
        try contentBytes(isLeftOut, depth: 0)
    }

    private func contentBytes(
        _ isLeftOut: ([UInt8]) -> Bool, depth: Int
    ) throws(SystemError) -> Int64 {
        guard depth < Self.depthLimit else { return 0 }
        var bytes: Int64 = 0
        do throws(SystemError) {
            let reader = try DirectoryReader(self)
            while let name = try reader.next() {
                guard !isLeftOut(name) else { continue }
                bytes = Self.sum(bytes, try contentBytes(of: name, isLeftOut, depth: depth))
            }
        } catch {
            if error.isTemporary { throw error }
        }
        return bytes
    }

    /// The size of a file, or of all files in a directory.
    private func contentBytes(
        of name: [UInt8], _ isLeftOut: ([UInt8]) -> Bool, depth: Int
    ) throws(SystemError) -> Int64 {
        do throws(SystemError) {
            let status = try status(of: name)
            switch status.kind {
            case .regular: return status.size
            case .directory:
                let inner = try directory(name)
                return try Self.descend(to: depth + 1) { () throws(SystemError) in
                    try inner.contentBytes(isLeftOut, depth: depth + 1)
                }
            default: return 0
            }
        } catch {
            if error.isTemporary { throw error }
            return 0
        }
    }

    /// Files with holes, and volumes of other machines, have arbitrary sizes.
    private static func sum(_ bytes: Int64, _ more: Int64) -> Int64 {
        let (sum, isTooMuch) = bytes.addingReportingOverflow(max(more, 0))
        return isTooMuch ? .max : sum
    }

    /// Whether a directory is this one, or inside of it.
    package func holds(_ directory: FileStatus, depth: Int = 0) throws(SystemError) -> Bool {
        if try status(of: []).isSameFile(as: directory) { return true }
        guard depth < Self.depthLimit else { throw SystemError.tooDeep("open") }
        let reader = try DirectoryReader(self)
        while let name = try reader.next() {
            guard let inner = try statusIfThere(of: name), inner.kind == .directory else {
                continue
            }
            let member = try self.directory(name)
            let holds = try Self.descend(to: depth + 1) { () throws(SystemError) in
                try member.holds(directory, depth: depth + 1)
            }
            if holds { return true }
        }
        return false
    }

    /// Whether this directory is another directory, or inside of it, as its parents show.
    /// - Parameters:
    ///   - other: the other directory.
    ///   - root: the directory where the walk through the parents ends.
    /// - Throws: `ENOENT` if this directory is not inside of `root`, because another program has
    ///   moved it or one of its parents.
    package func isWithin(_ other: FileStatus, upTo root: FileStatus) throws(SystemError) -> Bool {
        var directory = self
        var status = try directory.status(of: [])
        while true {
            if status.isSameFile(as: other) { return true }
            if status.isSameFile(as: root) { return false }
            let inner = status
            directory = try directory.parent()
            status = try directory.status(of: [])
            // The root of the system is its own parent. A directory that is mounted inside of
            // itself has another mount there.
            guard !status.isSameFile(as: inner) || status.mount != inner.mount else {
                throw SystemError.missing("open")
            }
        }
    }
}
