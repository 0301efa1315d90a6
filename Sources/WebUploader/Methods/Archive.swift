internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import ToolkitSystem
internal import WebDAVKit

/// A file or folder for an archive.
struct ArchiveMember: Sendable {
    var path: ResourcePath
    /// The path in the archive; empty for the root of the store, whose members are at the top.
    var name: [UInt8]
    var info: ResourceInfo
}

extension UploaderSite {
    /// A ZIP archive of files and folders, made while it is sent.
    ///
    /// The status is sent before the content is read. If a file cannot be read later, the
    /// connection is cut, so that no client takes an incomplete archive for a complete one.
    func archive(of paths: [ResourcePath], _ call: UploaderCall) async throws -> Response {
        var members: [ArchiveMember] = []
        var names: [[UInt8]: Int] = [:]
        // A path inside of a selected folder follows the folder in this order, and is left out
        // here, because the folder contains it.
        for path in Set(paths).sorted() {
            if let last = members.last, path.isWithin(last.path) { continue }
            let info = try await files.info(path)
            // An archive reveals the names in a folder, as a list does.
            if info.isCollection {
                try call.require(call.role.mayList)
                try await require(.list(path), call)
            }
            let name = path.isRoot ? [] : free(ZIPName.safe(path.name), &names, info.isCollection)
            members.append(ArchiveMember(path: path, name: name, info: info))
        }
        let parent = paths.count > 1 ? (members.first?.path.parent ?? .root) : paths[0]
        let name = parent.isRoot ? Array(options.title.utf8) : parent.name
        let safeName = ContentDisposition.safeFileName(of: String(decoding: name, as: UTF8.self))
        var response = Response(.ok, fields: Self.attachment((safeName ?? "files") + ".zip"))
        response.fields[.cacheControl] = "no-store"
        let (site, roots) = (self, members)
        response.body = .stream(mediaType: "application/zip") { writer in
            var archive = ArchiveWriter(site: site, call: call, writer: writer)
            try await archive.write(roots)
        }
        return response
    }

    /// A name that is unique at the top of the archive.
    private func free(
        _ name: [UInt8], _ taken: inout [[UInt8]: Int], _ isFolder: Bool
    ) -> [UInt8] {
        // The last number is remembered, so that many equal names do not each try all numbers.
        var number = taken[name] ?? 0
        while true {
            let candidate = FreeName.name(name, number, isFolder) ?? name
            number += 1
            guard number == 1 ? taken[name] == nil : taken[candidate] == nil else { continue }
            if number > 1 { taken[candidate] = 1 }
            taken[name] = number
            return candidate
        }
    }
}

/// Writes an archive, file by file and piece by piece.
private struct ArchiveWriter {
    /// Content is collected until it has this many bytes. Files of at least this length are sent by
    /// the system instead.
    private static let pieceBytes = 256 << 10
    /// The most bytes of a file that are sent in one call.
    private static let fileStep: Int64 = 1 << 20
    /// The most bytes that are read in one call for the check value: few enough to be in the
    /// processor's cache when it is computed.
    private static let readBytes: Int64 = 64 << 10

    let site: UploaderSite
    let call: UploaderCall
    let writer: ResponseWriter
    private var zip = ZIPWriter()
    /// Bytes that are sent with the next piece.
    private var pending: [UInt8] = []

    init(site: UploaderSite, call: UploaderCall, writer: ResponseWriter) {
        (self.site, self.call, self.writer) = (site, call, writer)
    }

    mutating func write(_ roots: [ArchiveMember]) async throws {
        // The folders that are still to be written; the next one is at the end.
        var folders: [ArchiveMember] = []
        for root in roots.reversed() {
            if root.info.isCollection { folders.append(root) }
        }
        for root in roots where !root.info.isCollection { try await writeFile(root) }
        while let folder = folders.popLast() {
            folders += try await writeFolder(folder).reversed()
        }
        zip.finish(into: &pending)
        try await flush()
    }

    /// Writes a folder and the files in it.
    /// - Returns: the folders in it.
    private mutating func writeFolder(_ folder: ArchiveMember) async throws -> [ArchiveMember] {
        if !folder.name.isEmpty {
            try zip.addFolder(folder.name, modified: folder.info.modified, into: &pending)
        }
        var inner: [ArchiveMember] = []
        let members: ResourceMembers
        do {
            members = try await site.files.store.members(of: folder.path, withProperties: false)
        } catch let error as WebDAVError where error.status == .notFound {
            // The folder was removed after it was listed.
            return []
        }
        while let batch = try await members.next() {
            for member in batch where isWanted(member) {
                let name = ZIPName.safe(member.name)
                let found = ArchiveMember(
                    path: folder.path.appending(member.name),
                    name: folder.name.isEmpty ? name : folder.name + [0x2F] + name,
                    info: member.info)
                guard try await isAllowed(found) else { continue }
                if found.info.isCollection {
                    inner.append(found)
                } else {
                    try await writeFile(found)
                }
            }
        }
        return inner
    }

    /// Links to folders are left out, because they may lead to a folder around them.
    private func isWanted(_ member: ResourceMember) -> Bool {
        guard !(member.isLink && member.info.isCollection) else { return false }
        return site.files.isShown(member.name, isFolder: member.info.isCollection)
    }

    /// Members that the program refuses are left out, as if they were hidden.
    private func isAllowed(_ member: ArchiveMember) async throws -> Bool {
        guard let shouldPerform = site.options.shouldPerform else { return true }
        let operation: UploaderOperation =
            member.info.isCollection ? .list(member.path) : .download(member.path)
        do {
            return try await shouldPerform(operation, call.request)
        } catch is HTTPError {
            return false
        }
    }

    // MARK: Files

    private mutating func writeFile(_ member: ArchiveMember) async throws {
        let (info, body): (ResourceInfo, ResponseBody)
        do {
            (info, body) = try await site.files.store.read(member.path)
        } catch let error as WebDAVError where error.status == .notFound {
            return
        }
        let length: Int64? =
            switch body.framing {
            case .none: 0
            case .length(let length): length
            default: nil
            }
        try zip.beginFile(
            member.name, modified: info.modified, length: length, into: &pending)
        switch body.content {
        case .empty, .upgrade: break
        case .text(let text): try await write(Array(text.utf8))
        case .bytes(let bytes): try await write(bytes)
        case .pieces(let pieces):
            for piece in pieces {
                switch piece {
                case .bytes(let bytes): try await write(bytes)
                case .file(let file, let offset, let count): try await copy(file, offset, count)
                }
            }
        case .file(let file, let offset, let count): try await copy(file, offset, count)
        case .stream(_, let producer): try await write(by: producer)
        }
        try zip.endFile(into: &pending)
        if pending.count >= Self.pieceBytes { try await flush() }
    }

    private mutating func write(_ bytes: [UInt8]) async throws {
        zip.content(bytes.span)
        pending += bytes
        if pending.count >= Self.pieceBytes { try await flush() }
    }

    private mutating func flush() async throws {
        let bytes = pending
        pending = []
        try await writer.write(bytes)
    }

    private mutating func write(by producer: ResponseBody.Producer) async throws {
        try await flush()
        let sent = Locked((count: 0, checksum: UInt32(0)))
        try await producer(
            writer.observed { bytes in
                sent.withLock { sent in
                    sent.count += bytes.count
                    sent.checksum = ZIPWriter.checksum(bytes.span, after: sent.checksum)
                }
            })
        let (count, checksum) = sent.withLock { $0 }
        zip.content(count: count, checksum: checksum)
    }

    /// Sends part of a file: while one piece is sent, the check value of the next one is computed.
    private mutating func copy(_ file: OpenFile, _ offset: Int64, _ count: Int64) async throws {
        let end = offset + count
        guard count >= Self.pieceBytes else {
            let bytes = try await BlockingPool.files.runUnlessCancelled {
                try file.content(at: offset, count: Int(count))
            }
            guard bytes.count == count else { throw ResponseWriterError.wrongLength }
            return try await write(bytes)
        }
        try await flush()
        var position = offset
        var checksum = try await Self.checksum(of: file, position, end, after: 0)
        while position < end {
            let step = min(Self.fileStep, end - position)
            let (start, before) = (position + step, checksum)
            async let next = Self.checksum(of: file, start, end, after: before)
            zip.content(count: Int(step), checksum: checksum)
            try await writer.write(file, offset: position, count: step)
            checksum = try await next
            position = start
        }
    }

    /// The check value of the content up to the end of the next `fileStep` bytes.
    ///
    /// The bytes are read here, and again by the system when they are sent. A file that changes in
    /// between does not match its check value in the archive.
    /// - Throws: when the file has become shorter.
    private static func checksum(
        of file: OpenFile, _ start: Int64, _ end: Int64, after checksum: UInt32
    ) async throws -> UInt32 {
        let stop = min(start + fileStep, end)
        guard start < stop else { return checksum }
        return try await BlockingPool.files.runUnlessCancelled {
            var (position, checksum) = (start, checksum)
            while position < stop {
                let room = Int(min(readBytes, stop - position))
                let bytes = try file.content(at: position, count: room)
                guard bytes.count == room else { throw ResponseWriterError.wrongLength }
                checksum = ZIPWriter.checksum(bytes.span, after: checksum)
                position += Int64(room)
            }
            return checksum
        }
    }
}
