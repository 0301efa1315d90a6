internal import CHTTPServerShims

/// Where directories are now, and the volumes that are mounted in the tree.
extension FileTree {
    /// The path of an open directory in the tree.
    /// - Returns: `nil` where it is not known, or not in the tree.
    package func path(of directory: OpenDirectory) -> [UInt8]? {
        guard let root = absolutePath, let path = Self.absolutePath(of: directory.file) else {
            return nil
        }
        return Self.inner(path, of: root)
    }

    /// Where a volume is mounted in the tree, the first of several places.
    /// - Parameter device: as in `FileStatus`.
    /// - Returns: `nil` where it is not known.
    package func mountPath(ofDevice device: UInt64) -> [UInt8]? {
        guard let root = absolutePath,
            let table = try? Syscalls.readFile("/proc/self/mountinfo", upTo: 1 << 20)
        else { return nil }
        return Self.mountPath(ofDevice: device, in: table, root: root)
    }

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

    /// White space and backslashes are three octal digits behind a backslash.
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
