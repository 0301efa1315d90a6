internal import CHTTPServerShims

/// The current paths of directories, and the volumes that are mounted in the tree.
extension FileTree {
    /// The path of an open directory in the tree.
    /// - Returns: `nil` if the path is unknown or not in the tree.
    package func path(of directory: OpenDirectory) -> [UInt8]? {
        guard let root = absolutePath, let path = Self.absolutePath(of: directory.file) else {
            return nil
        }
        return Self.inner(path, of: root)
    }

    /// The path where a volume is mounted in the tree; the first one in order if there are several.
    /// - Parameter device: as in `FileStatus`.
    /// - Returns: `nil` if the volume is not mounted in the tree, or the system does not report it.
    package func mountPath(ofDevice device: UInt64) throws(SystemError) -> [UInt8]? {
        guard let (table, root) = try mounts() else { return nil }
        return Self.mountPath(ofDevice: device, in: table, root: root)
    }

    /// Whether a file system of another machine or program is mounted in the tree now.
    package func hasRemoteMounts() throws(SystemError) -> Bool {
        guard let (table, root) = try mounts() else { return false }
        return Self.hasRemoteMounts(in: table, root: root)
    }

    /// The system's table of mounts, and the path of the root; `nil` if either is unavailable.
    private func mounts() throws(SystemError) -> (table: [UInt8], root: [UInt8])? {
        guard let root = Self.absolutePath(of: try directory([]).file) else { return nil }
        do throws(SystemError) {
            return (try Syscalls.readFile("/proc/self/mountinfo", upTo: 16 << 20), root)
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }

    /// - Parameter table: lines as in proc_pid_mountinfo(5).
    package static func hasRemoteMounts(in table: [UInt8], root: [UInt8]) -> Bool {
        table.split(separator: 0x0A).contains { line in
            let fields = line.split(separator: 0x20)
            // A dash ends the optional fields; the type follows it.
            guard fields.count > 6, let place = inner(unescaped(fields[4]), of: root),
                !place.isEmpty,
                let dash = fields[6...].firstIndex(where: { $0.elementsEqual([0x2D]) }),
                dash + 1 < fields.count
            else { return false }
            let type = String(decoding: fields[dash + 1], as: UTF8.self)
            return remoteTypes.contains { type.hasPrefix($0) }
        }
    }

    /// Prefixes of the types of file systems that may block without limit.
    private static let remoteTypes = [
        "nfs", "cifs", "smb", "9p", "ceph", "afs", "autofs", "fuse", "virtiofs", "lustre",
        "gluster", "ocfs2", "gfs2", "vboxsf",
    ]

    /// - Parameter table: lines as in proc_pid_mountinfo(5).
    package static func mountPath(
        ofDevice device: UInt64, in table: [UInt8], root: [UInt8]
    ) -> [UInt8]? {
        let number = Array("\(device >> 32):\(device & 0xFFFF_FFFF)".utf8)
        let paths = table.split(separator: 0x0A).compactMap { line -> [UInt8]? in
            let fields = line.split(separator: 0x20, maxSplits: 5)
            guard fields.count > 5, fields[2].elementsEqual(number) else { return nil }
            return inner(unescaped(fields[4]), of: root)
        }
        return paths.min { $0.lexicographicallyPrecedes($1) }
    }

    private var absolutePath: [UInt8]? {
        (try? directory([])).flatMap { Self.absolutePath(of: $0.file) }
    }

    private static func absolutePath(of file: OpenFile) -> [UInt8]? {
        var room = [CChar](repeating: 0, count: 4097)
        let length = unsafe http_server_path(file.descriptor, &room, room.count)
        return length < 0 ? nil : room[..<length].map { UInt8(bitPattern: $0) }
    }

    private static func inner(_ path: [UInt8], of root: [UInt8]) -> [UInt8]? {
        guard path != root else { return [] }
        let around = root == [0x2F] ? root : root + [0x2F]
        return path.starts(with: around) ? Array(path[around.count...]) : nil
    }

    /// Decodes white space and backslashes, which are a backslash and three octal digits.
    private static func unescaped(_ field: ArraySlice<UInt8>) -> [UInt8] {
        var (path, rest) = ([UInt8](), field)
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(3), as: UTF8.self)
            if byte == 0x5C, let value = UInt8(digits, radix: 8) {
                path.append(value)
                rest = rest.dropFirst(3)
            } else {
                path.append(byte)
            }
        }
        return path
    }
}
