internal import HTTPParser
internal import HTTPServerKit
package import ToolkitSystem

/// The names of separate property files. Each name identifies the file that has the properties.
///
/// A name consists of the inode and the time of birth: another file that gets the same inode has
/// another time. Device numbers may change when the machine restarts, so volumes other than the
/// root's are identified by their mount points.
package final class PropertyFileNames: Sendable {
    private struct Volume: Hashable, Sendable {
        var device: UInt64
        var mount: UInt64
    }

    private let tree: FileTree
    private let rootDevice: UInt64
    private let volumes = Locked<[Volume: String]>([:])

    package init(_ tree: FileTree) throws(SystemError) {
        self.tree = tree
        rootDevice = try tree.status(of: []).device
    }

    @inline(never)  // Each caller would have a copy of it.
    package func name(of status: FileStatus) throws(SystemError) -> [UInt8] {
        var parts = [
            String(status.inode, radix: 16), "\(status.bornSeconds)", "\(status.bornNanoseconds)",
        ]
        if status.device != rootDevice { parts.append(try volume(of: status)) }
        return Array(parts.joined(separator: "-").utf8)
    }

    private func volume(of status: FileStatus) throws(SystemError) -> String {
        let volume = Volume(device: status.device, mount: status.mount)
        if let known = volumes.withLock({ $0[volume] }) { return known }
        guard let path = try tree.mountPath(ofDevice: status.device) else {
            return String(status.device, radix: 16)
        }
        let hash = path.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        let name = "v" + String(hash, radix: 16)
        volumes.withLock { $0[volume] = name }
        return name
    }

    /// The part of a name that identifies the volume; empty on the root's volume.
    private static func volume(in name: [UInt8]) -> ArraySlice<UInt8> {
        // Inode, seconds and nanoseconds come first.
        let parts = name.split(separator: 0x2D)
        return parts.count > 3 ? parts[parts.count - 1] : []
    }

    /// Removes from `names` all names that belong to existing files of the tree. It also removes
    /// the names of volumes on which no file was found, because these may just not be mounted.
    ///
    /// During a pass another program may move a file from a directory that is still to be read into
    /// one that was read already. A second pass finds such a file, if any name is left.
    /// - Parameter didRead: called with each directory after its whole tree was read.
    package func removeNamesInUse(
        from names: inout Set<[UInt8]>, didRead: (OpenDirectory) -> Void = { _ in }
    ) throws(SystemError) {
        for _ in 0..<2 where !names.isEmpty {
            try removeNamesOfExistingFiles(
                from: &names, in: try tree.directory([]), depth: 0, didRead)
        }
        let mounted = volumes.withLock { Set($0.values.map { Array($0.utf8) }) }
        names = names.filter { name in
            let volume = Array(Self.volume(in: name))
            return volume.isEmpty || mounted.contains(volume)
        }
    }

    private func removeNamesOfExistingFiles(
        from names: inout Set<[UInt8]>, in directory: OpenDirectory, depth: Int,
        _ didRead: (OpenDirectory) -> Void
    ) throws(SystemError) {
        guard depth < OpenDirectory.depthLimit else { throw SystemError.tooDeep("open") }
        names.remove(try name(of: try directory.status(of: [])))
        let reader = try DirectoryReader(directory)
        while !names.isEmpty, let member = try reader.next() {
            guard !ReservedNames.contains(member.span),
                let status = try directory.statusIfThere(of: member)
            else { continue }
            if status.kind == .regular { names.remove(try name(of: status)) }
            guard status.kind == .directory else { continue }
            let inner = try directory.directory(member)
            try OpenDirectory.descend(to: depth + 1) { () throws(SystemError) in
                try removeNamesOfExistingFiles(from: &names, in: inner, depth: depth + 1, didRead)
            }
        }
        didRead(directory)
    }
}
