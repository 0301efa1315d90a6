internal import HTTPParser
internal import HTTPServerCore

/// The dead properties of files: in one extended attribute each, which is set at once and whole;
/// where it does not fit, or the file system has none, in a file named by the identity of the file
/// that they belong to.
final class LocalProperties: Sendable {
    #if canImport(Darwin)
        private static let attribute = "httpkit.dav.properties"
    #else
        private static let attribute = "user.httpkit.dav"
    #endif
    private static let folder = Array("properties".utf8)
    /// Stands in the attribute for properties that are in a file.
    private static let elsewhere = Array("@".utf8)

    private let tree: FileTree
    private let scratch: ScratchFolder

    init(_ tree: FileTree, _ scratch: ScratchFolder) {
        (self.tree, self.scratch) = (tree, scratch)
    }

    func read(_ file: OpenFile) -> [DeadProperty] {
        PropertyFile.decode(encoded(of: file))
    }

    func write(_ properties: [DeadProperty], to file: OpenFile) throws {
        let bytes = PropertyFile.encode(properties)
        guard bytes.count <= PropertyFile.byteLimit else {
            throw WebDAVError(.insufficientStorage, "too many properties")
        }
        try write(bytes, to: file)
    }

    func copy(from old: OpenFile, to new: OpenFile) throws(SystemError) {
        let bytes = encoded(of: old)
        if !bytes.isEmpty { try write(bytes, to: new) }
    }

    private func encoded(of file: OpenFile) -> [UInt8] {
        guard let limited = try? file.attribute(Self.attribute, upTo: 64 << 10) else {
            return sideFile(of: file) ?? []
        }
        return limited == Self.elsewhere ? sideFile(of: file) ?? [] : limited
    }

    private func write(_ bytes: [UInt8], to file: OpenFile) throws(SystemError) {
        guard !bytes.isEmpty else {
            try file.removeAttribute(Self.attribute)
            return try removeSideFile(of: file)
        }
        do throws(SystemError) {
            try file.setAttribute(Self.attribute, bytes)
        } catch {
            guard error.isUnsupported || error.isAttributeTooLarge else { throw error }
            try writeSideFile(bytes, of: file)
            try? file.setAttribute(Self.attribute, Self.elsewhere)
        }
    }

    // MARK: Files

    /// Inode and time of birth: another file that gets the same inode has another one.
    private static func name(of file: OpenFile) throws(SystemError) -> [UInt8] {
        let status = try file.status()
        let parts = [status.device, status.inode].map { String($0, radix: 16) }
        return Array(
            (parts + ["\(status.bornSeconds)", "\(status.bornNanoseconds)"])
                .joined(separator: "-").utf8)
    }

    private func sideFolder() -> OpenDirectory? {
        scratch.ownFolderIfThere().flatMap { try? $0.directory(Self.folder) }
    }

    private func sideFile(of file: OpenFile) -> [UInt8]? {
        guard let folder = sideFolder(), let name = try? Self.name(of: file),
            let side = try? folder.open(name)
        else { return nil }
        return try? side.content(upTo: PropertyFile.byteLimit)
    }

    private func writeSideFile(_ bytes: [UInt8], of file: OpenFile) throws(SystemError) {
        let own = try scratch.ownFolder()
        do throws(SystemError) {
            try own.makeDirectory(Self.folder, 0o700)
        } catch {
            guard error.isTaken else { throw error }
        }
        let target = FilePlace(
            directory: try own.directory(Self.folder), name: try Self.name(of: file))
        let new = scratch.place(beside: target)
        try new.directory.create(new.name).write(bytes)
        try new.directory.rename(new.name, to: target, .replacing)
    }

    private func removeSideFile(of file: OpenFile) throws(SystemError) {
        guard let folder = sideFolder() else { return }
        try? folder.remove(try Self.name(of: file), isDirectory: false)
    }
}
