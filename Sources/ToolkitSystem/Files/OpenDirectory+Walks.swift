/// Looks at whole trees. Links inside of them are not followed.
extension OpenDirectory {
    /// The total size of the files in this directory and below. Unreadable entries count as 0.
    /// - Parameter isLeftOut: whether a name does not count, with everything inside.
    package func contentBytes(leavingOut isLeftOut: ([UInt8]) -> Bool) -> Int64 {
        contentBytes(isLeftOut, depth: 0)
    }

    private func contentBytes(_ isLeftOut: ([UInt8]) -> Bool, depth: Int) -> Int64 {
        guard depth < Self.depthLimit, let reader = try? DirectoryReader(self) else { return 0 }
        var bytes: Int64 = 0
        while let name = try? reader.next() {
            guard !isLeftOut(name), let status = try? status(of: name) else { continue }
            switch status.kind {
            case .regular: bytes = Self.sum(bytes, status.size)
            case .directory:
                guard let inner = try? directory(name) else { continue }
                bytes = Self.sum(bytes, inner.contentBytes(isLeftOut, depth: depth + 1))
            default: break
            }
        }
        return bytes
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
            if try self.directory(name).holds(directory, depth: depth + 1) { return true }
        }
        return false
    }

    /// Whether this directory is another one, or inside of it, judged by the directories around it.
    /// - Parameters:
    ///   - other: the other one.
    ///   - root: where the walk through the parents ends.
    /// - Throws: that something is missing when this directory is not inside of `root`: another
    ///   program has moved it, or one around it.
    package func isWithin(_ other: FileStatus, upTo root: FileStatus) throws(SystemError) -> Bool {
        var directory = self
        var status = try directory.status(of: [])
        while true {
            if status.isSameFile(as: other) { return true }
            if status.isSameFile(as: root) { return false }
            let inner = status
            directory = try directory.parent()
            status = try directory.status(of: [])
            // The root of the system is its own parent. A directory that is mounted inside of itself
            // has another mount there.
            guard !status.isSameFile(as: inner) || status.mount != inner.mount else {
                throw SystemError.missing("open")
            }
        }
    }
}
