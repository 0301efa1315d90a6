internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit
internal import ToolkitSystem

/// The folder of unfinished uploads. Each has a record and a part: a file with the bytes that have
/// arrived, whose length is the upload's offset. The calls block.
final class UploadFolder: Sendable {
    /// The age in seconds from which a part without a record, or a record under its temporary name,
    /// counts as left over from a dead process.
    private static let strayAge: Int64 = 3_600
    private static let recordLimit = 1 << 20

    private let path: String
    private let synchronizes: Bool
    /// Opened or created when the folder is first needed.
    private let opened = Locked<OpenDirectory?>(nil)
    /// The bytes of each part that this process has synchronized to the disk. It does so in a
    /// folder that synchronizes, and on a network file system.
    private let synchronized = Locked<[UploadID: Int64]>([:])
    /// The parts whose synchronization has failed. A second attempt would succeed although content
    /// is lost, because the system reports the error only once.
    private let failures = Locked<[UploadID: SystemError]>([:])

    init(_ path: String, synchronizes: Bool) {
        (self.path, self.synchronizes) = (path, synchronizes)
    }

    static func now() -> Int64 { Syscalls.realtime().seconds }

    private func directory(makes: Bool = true) throws(SystemError) -> OpenDirectory {
        if let known = opened.withLock({ $0 }) { return known }
        let made = makes ? try make(path) : try Self.open(path)
        opened.withLock { $0 = made }
        return made
    }

    private static func open(_ path: String) throws(SystemError) -> OpenDirectory {
        let directory = OpenDirectory(OpenFile(owning: try Syscalls.openFile(path)))
        guard try directory.status(of: []).kind == .directory else {
            throw SystemError.forbidden("open")
        }
        return directory
    }

    /// Opens a directory; creates it and its parents if they are missing.
    private func make(_ path: String) throws(SystemError) -> OpenDirectory {
        do throws(SystemError) {
            return try Self.open(path)
        } catch {
            guard error.isMissing, let (outer, name) = Self.split(path), outer != path
            else { throw error }
            let parent = try make(outer)
            do throws(SystemError) {
                try parent.makeDirectory(name, 0o700)
            } catch {
                guard error.isTaken else { throw error }
            }
            if synchronizes { try Self.synchronizeNames(in: parent) }
            return try parent.directory(name)
        }
    }

    /// The path of a directory's parent, and the directory's name in it; `nil` for a path without a
    /// name.
    private static func split(_ path: String) -> (outer: String, name: [UInt8])? {
        let bytes = Array(path.utf8)
        guard let last = bytes.lastIndex(where: { $0 != 0x2F }) else { return nil }
        let start = bytes[...last].lastIndex(of: 0x2F).map { $0 + 1 } ?? 0
        // A bare name is in the working directory.
        let outer = start == 0 ? "." : String(decoding: bytes[..<start], as: UTF8.self)
        return (outer, Array(bytes[start...last]))
    }

    /// Waits until the names in a directory, and the directory's own name, are on the disk: the
    /// directory may be new, too. If its parent must not be read, the directory counts as old.
    private static func synchronizeNames(in directory: OpenDirectory) throws(SystemError) {
        try directory.file.synchronize()
        do throws(SystemError) {
            try directory.parent().file.synchronize()
        } catch {
            guard error.isForbidden || error.isUnsupported else { throw error }
        }
    }

    // MARK: One upload

    /// Makes an empty part and its record.
    func begin(_ id: UploadID, _ record: UploadRecord) throws {
        do {
            try begin(id, record, in: directory())
        } catch let error as SystemError where error.isMissing {
            // Another program has removed the folder.
            opened.withLock { $0 = nil }
            try begin(id, record, in: directory())
        }
    }

    private func begin(
        _ id: UploadID, _ record: UploadRecord, in directory: OpenDirectory
    ) throws {
        _ = try directory.create(id.partName)
        do {
            try write(record, id)
        } catch {
            remove(id)
            throw error
        }
    }

    /// The record of an upload; `nil` if it is missing, too large or cannot be decoded.
    func record(_ id: UploadID) throws -> UploadRecord? {
        let bytes: [UInt8]
        do throws(SystemError) {
            let file = try directory(makes: false).open(id.recordName)
            bytes = try file.content(upTo: Self.recordLimit)
        } catch {
            guard error.isMissing || error.isFileTooLarge else { throw error }
            return nil
        }
        // Without a record that can be decoded the upload is lost.
        return try? JSONBody().decode(UploadRecord.self, from: bytes)
    }

    /// Writes a record under a temporary name and renames it, so that a reader sees the old or the
    /// new record, never a mix.
    /// - Throws: `HTTPError` with 431 for a record that could not be read again.
    func write(_ record: UploadRecord, _ id: UploadID) throws {
        let directory = try directory()
        let bytes = try JSONBody().encode(record)
        guard bytes.count <= Self.recordLimit else {
            throw HTTPError(.requestHeaderFieldsTooLarge)
        }
        try? directory.remove(id.newName, isDirectory: false)
        do {
            let file = try directory.create(id.newName)
            try file.write(bytes)
            if synchronizes { try file.synchronize() }
            try directory.rename(
                id.newName, to: FilePlace(directory: directory, name: id.recordName), .replacing)
        } catch {
            try? directory.remove(id.newName, isDirectory: false)
            throw error
        }
        if synchronizes { try directory.file.synchronize() }
    }

    /// Opens a part to append to it.
    func part(_ id: UploadID) throws -> OpenFile { try directory().openForAppending(id.partName) }

    /// A whole part, as the content for the handler.
    /// - Throws: the error of an earlier synchronization, because content may be lost.
    func content(_ id: UploadID, length: Int64) throws -> ContentFile {
        if let failure = failures.withLock({ $0[id] }) { throw failure }
        let directory = try directory()
        return ContentFile(
            try directory.openForAppending(id.partName),
            at: FilePlace(directory: directory, name: id.partName), length: length)
    }

    /// Whether content of an upload may be lost, because its synchronization has failed.
    func hasFailed(_ id: UploadID) -> Bool { failures.withLock { $0[id] != nil } }

    /// How many bytes of an upload have arrived. In a folder that synchronizes, this waits until
    /// they are on the disk, because an earlier process may have left them only in memory.
    func offset(_ id: UploadID) throws -> Int64 {
        let size = try directory().status(of: id.partName).size
        if synchronizes, synchronized.withLock({ $0[id] }) != size {
            try synchronizePart(id, try part(id))
        }
        return size
    }

    /// Waits until a part is on the disk, if the folder synchronizes or is on a network file
    /// system, which may report only then that it is full.
    func synchronizePart(_ id: UploadID, _ file: OpenFile) throws {
        guard synchronizes || !FileTree.isLocal(file) else { return }
        if let failure = failures.withLock({ $0[id] }) { throw failure }
        let size = try file.status().size
        do throws(SystemError) {
            try Syscalls.synchronizeContent(file.descriptor)
        } catch {
            failures.withLock { $0[id] = error }
            throw error
        }
        synchronized.withLock { $0[id] = size }
    }

    func removePart(_ id: UploadID) {
        synchronized.withLock { $0[id] = nil }
        failures.withLock { $0[id] = nil }
        try? directory(makes: false).remove(id.partName, isDirectory: false)
    }

    /// Removes an upload: the record first, because a part without one counts as left over.
    /// - Returns: whether the upload is gone. If not, an earlier synchronization error is kept.
    @discardableResult
    func remove(_ id: UploadID) -> Bool {
        do throws(SystemError) {
            try directory(makes: false).remove(id.recordName, isDirectory: false)
        } catch {
            guard error.isMissing else { return false }
        }
        removePart(id)
        return true
    }

    // MARK: All uploads

    /// The uploads that a sweep has kept and removed.
    struct SweptUploads: Equatable {
        /// The numbers of unfinished uploads by user.
        var kept: [UserKey: Int] = [:]
        var removed: [UserKey: Int] = [:]
        /// The finished uploads whose answers are kept.
        var answered: [Answered] = []
        var expiredAnswers: [Answered] = []

        struct Answered: Equatable {
            var id: UploadID
            var owner: UserKey
            var expires: Int64

            init(_ id: UploadID, _ record: UploadRecord) {
                (self.id, owner, expires) = (id, UserKey(record.owner), record.expires)
            }
        }
    }

    /// Removes expired uploads and leftovers of dead processes.
    /// - Parameter isActive: whether a request is using an upload.
    /// - Throws: when the folder cannot be read.
    func sweep(isActive: (UploadID) -> Bool) throws(SystemError) -> SweptUploads {
        let directory: OpenDirectory
        do throws(SystemError) {
            directory = try self.directory(makes: false)
        } catch {
            guard error.isMissing else { throw error }
            return SweptUploads()
        }
        let now = Self.now()
        var swept = SweptUploads()
        for name in try directory.names() {
            let stem = name.prefix { $0 != 0x2E }
            guard let id = UploadID(stem) else { continue }
            // An active upload is counted, but none of its files is removed.
            let isActive = isActive(id)
            if name == id.recordName {
                do {
                    let record = try record(id)
                    let isUnfinished = record.map { $0.answer == nil } ?? false
                    if isActive || record.map({ $0.expires > now }) ?? false {
                        if let record, isUnfinished {
                            swept.kept[UserKey(record.owner), default: 0] += 1
                        } else if let record {
                            swept.answered.append(.init(id, record))
                        }
                        continue
                    }
                    guard remove(id) else {
                        if let record, isUnfinished {
                            swept.kept[UserKey(record.owner), default: 0] += 1
                        }
                        continue
                    }
                    if let record, isUnfinished {
                        swept.removed[UserKey(record.owner), default: 0] += 1
                    } else if let record {
                        swept.expiredAnswers.append(.init(id, record))
                    }
                } catch {
                    // The next sweep may be able to read the record.
                }
            } else if !isActive, isStray(name, id, in: directory, now) {
                try? directory.remove(name, isDirectory: false)
            }
        }
        return swept
    }

    private func isStray(
        _ name: [UInt8], _ id: UploadID, in directory: OpenDirectory, _ now: Int64
    ) -> Bool {
        guard let status = try? directory.status(of: name),
            status.modifiedSeconds < now - Self.strayAge
        else { return false }
        guard name == id.partName else { return true }
        do throws(SystemError) {
            return try directory.statusIfThere(of: id.recordName) == nil
        } catch {
            return false
        }
    }

    /// Closes the folder, and removes it if it is empty.
    func close() {
        opened.withLock { $0 = nil }
        Syscalls.removeFolder(path)
    }
}
