internal import HTTPParser
internal import HTTPServerCore
package import ToolkitSystem

// The description of a file as WebDAV shows it.

extension WebDAVError {
    /// The answer to an error of the system.
    package init(_ error: SystemError) {
        if error.isQuotaExceeded {
            self = .quotaExceeded
        } else if error.isStorageFull {
            self = .storageFull
        } else if error.isMissing {
            self = .notFound
        } else if error.isForbidden {
            self = .forbidden
        } else if error.isTaken {
            self.init(.conflict, "another program has created the resource")
        } else if error.isBusy {
            self.init(.forbidden, "the resource is in use")
        } else if error.isNameTooLong {
            self.init(.forbidden, "the name is too long")
        } else if error.fileStatus == .unavailable {
            self.init(.serviceUnavailable)
        } else {
            self.init(.internalServerError, error.description)
        }
    }
}

extension ResourceFailure {
    init(_ root: ResourcePath, _ fault: TreeFault) {
        let path = fault.path.isEmpty ? root : root.appending(fault.path)
        self.init(path, WebDAVError(fault.error))
    }
}

extension ResourceInfo {
    /// - Returns: `nil` unless the status is that of a file or a directory.
    init?(_ status: FileStatus) {
        guard status.kind != .other else { return nil }
        let modified = InternetTimestamp(
            secondsSinceEpoch: status.modifiedSeconds, nanoseconds: Int(status.modifiedNanoseconds))
        self.init(
            isCollection: status.kind == .directory,
            length: status.kind == .directory ? 0 : status.size, modified: modified)
        if status.bornSeconds != 0 {
            created = InternetTimestamp(
                secondsSinceEpoch: status.bornSeconds, nanoseconds: Int(status.bornNanoseconds))
        }
        if status.kind == .regular { tag = Self.tag(status) }
    }

    /// Inode, length, modification time and time of birth. Each PUT makes a new file, so the time
    /// of birth separates contents that share inode, size and a time that the client has set.
    /// `UniqueTimestamps` separates files written within one tick of the file system's clock. The
    /// status change time is not used, because a change of properties changes it.
    private static func tag(_ status: FileStatus) -> ResourceTag {
        .file(
            inode: status.inode, length: status.size,
            modified: status.modifiedSeconds &* 1_000_000_000 &+ status.modifiedNanoseconds,
            born: status.bornSeconds &* 1_000_000_000 &+ status.bornNanoseconds)
    }
}
