internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit
internal import ToolkitSystem

/// An error that makes a file of locks unusable.
public struct LockFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file.
    public let path: String
    /// A short description of the problem.
    public let reason: String

    /// File and reason.
    public var description: String { "\(path): \(reason)" }
}

/// A file of locks: an append-only log, so that the cost of a lock does not depend on the number of
/// locks. Once most lines are obsolete, the log is rewritten and renamed.
///
/// A process may die at any moment: a rewritten file gets its name once it is complete, and a last
/// line without its line feed is ignored, because its request was not answered yet.
///
/// Two stores would overwrite each other's locks. To prevent this, a store locks a second file with
/// the suffix `.held`, which is not replaced when the log is rewritten.
final class LockFile: Sendable {
    private static let byteLimit = 256 << 20
    /// A file of at most this many bytes is not worth a rewrite.
    private static let leastHistory = 64 << 10
    /// The first line. A file of an older version has none, and its last line is always complete.
    private static let header = Array("httpkit-locks 2".utf8)

    private struct State: Sendable {
        /// The expected state of the file, unless another process has changed or replaced it.
        var inode: UInt64 = 0
        var length = 0
        /// The length of the file after the last rewrite.
        var wholeLength = 0
        /// Whether the file must be created before lines can be appended.
        var isUnusable = true
        /// The locked file `.held`, open for the life of the store; `nil` before its folder exists.
        var claim: OpenFile?
    }

    private let path: String
    private let synchronizes: Bool
    private let state = Locked(State())

    private var newPath: String { path + ".new" }
    private var claimPath: String { path + ".held" }

    /// - Parameter synchronizes: whether each change waits until it is on the disk.
    init(path: String, synchronizes: Bool) {
        (self.path, self.synchronizes) = (path, synchronizes)
    }

    // MARK: Claiming

    /// - Returns: whether no other store uses the file.
    private func claim(_ state: inout State) throws(SystemError) -> Bool {
        if state.claim != nil { return true }
        let file = OpenFile(owning: try Syscalls.openForHolding(claimPath))
        // A file system without file locks must not prevent a store of WebDAV locks.
        guard file.hold() || !SystemError("flock").isHeldElsewhere else { return false }
        state.claim = file
        return true
    }

    /// Claims the file. If the folder is missing, the first change does so.
    private func claim() throws(LockFileError) {
        let result: Result<Bool, SystemError> = state.withLock { state in
            do throws(SystemError) {
                return .success(try claim(&state))
            } catch {
                return error.isMissing ? .success(true) : .failure(error)
            }
        }
        switch result {
        case .success(true): break
        case .success(false):
            throw LockFileError(
                path: path, reason: "another server uses it; give each server a separate file")
        case .failure(let error): throw LockFileError(path: claimPath, reason: error.reason)
        }
    }

    // MARK: Reading

    /// The locks of the file; none if it is missing. An unreadable file is an error, because the
    /// next change would replace a file that counts as empty.
    func read() throws(LockFileError) -> [ActiveLock] {
        try claim()
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try Syscalls.readFile(path, upTo: Self.byteLimit)
        } catch {
            guard error.isMissing else { throw LockFileError(path: path, reason: error.reason) }
            bytes = []
        }
        guard let locks = Self.locks(in: bytes) else {
            throw LockFileError(path: path, reason: "the file contains something other than locks")
        }
        // The leftover of a process that died during a rewrite.
        Syscalls.removeFile(newPath)
        return locks
    }

    private static func locks(in bytes: [UInt8]) -> [ActiveLock]? {
        var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        let torn = lines.popLast()
        if lines.first?.elementsEqual(header) == true {
            lines.removeFirst()
        } else if let torn, !torn.isEmpty {
            lines.append(torn)
        }
        var (order, byToken): ([LockToken], [LockToken: ActiveLock]) = ([], [:])
        for line in lines {
            switch record(line) {
            case .lock(let lock):
                if byToken.updateValue(lock, forKey: lock.token) == nil { order.append(lock.token) }
            case .removal(let token): byToken[token] = nil
            case nil: return nil
            }
        }
        // A lock that was removed and added again is in `order` twice.
        var seen: Set<LockToken> = []
        return order.filter { seen.insert($0).inserted }.compactMap { byToken[$0] }
    }

    // MARK: Writing

    /// Writes changes to the file. One call may write several: a later caller finds its change
    /// written, or writes it with all others.
    /// - Parameters:
    ///   - takeLines: returns the lines of the changes that have not been written yet.
    ///   - all: returns all locks, including these changes.
    func write(
        _ takeLines: () -> [UInt8], all: () -> [ActiveLock]
    ) throws(SystemError) {
        let result: Result<Void, SystemError> = state.withLock { state in
            do throws(SystemError) {
                let lines = takeLines()
                let isHistory =
                    state.length + lines.count > max(Self.leastHistory, 2 * state.wholeLength)
                let isTooLong = state.length + lines.count > Self.byteLimit
                if state.isUnusable || isHistory || isTooLong {
                    try writeWhole(all(), &state)
                } else if !lines.isEmpty, try !append(lines, &state) {
                    try writeWhole(all(), &state)
                }
                return .success(())
            } catch {
                // The next writer also writes the lines of this one, as far as they are still
                // valid.
                state.isUnusable = true
                return .failure(error)
            }
        }
        try result.get()
    }

    /// - Returns: whether the file is the one that was written last.
    private func append(_ lines: [UInt8], _ state: inout State) throws(SystemError) -> Bool {
        let file: OpenFile
        do throws(SystemError) {
            file = OpenFile(owning: try Syscalls.openForAppending(path))
        } catch {
            guard error.isMissing else { throw error }
            return false
        }
        let status = try file.status()
        guard status.inode == state.inode, status.size == Int64(state.length) else { return false }
        do throws(SystemError) {
            try file.write(lines)
            if synchronizes { try Syscalls.synchronizeContent(file.descriptor) }
        } catch {
            // Half a line would corrupt the next one. If truncating fails, too, the whole file is
            // rewritten.
            try? Syscalls.truncate(file.descriptor, to: Int64(state.length))
            throw error
        }
        state.length += lines.count
        return true
    }

    private func writeWhole(
        _ locks: [ActiveLock], _ state: inout State
    ) throws(SystemError) {
        var bytes = Self.header + [0x0A]
        for lock in locks { bytes += Self.line(adding: lock) }
        guard try claim(&state) else { throw SystemError.heldElsewhere("flock") }
        // A file above the limit would make the next start fail.
        guard bytes.count <= Self.byteLimit else { throw SystemError.tooLarge("write") }
        Syscalls.removeFile(newPath)
        do throws(SystemError) {
            let file = OpenFile(owning: try Syscalls.createFile(newPath))
            try file.write(bytes)
            if synchronizes { try Syscalls.synchronize(file.descriptor) }
            let inode = try file.status().inode
            try Syscalls.moveFile(newPath, to: path, replaces: true)
            if synchronizes { try Syscalls.synchronizeFolder(of: path) }
            state = State(
                inode: inode, length: bytes.count, wholeLength: bytes.count, isUnusable: false,
                claim: state.claim)
        } catch {
            Syscalls.removeFile(newPath)
            throw error
        }
    }

    // MARK: Lines

    private enum Record {
        case lock(ActiveLock)
        case removal(LockToken)
    }

    /// Fields separated by spaces, percent-encoded. The path of a collection ends with a slash.
    static func line(adding lock: ActiveLock) -> [UInt8] {
        let root = lock.root.bytes + (lock.isCollection ? [0x2F] : [])
        let fields: [[UInt8]] = [
            Array(lock.token.uri.utf8), root, Array((lock.isDeep ? "deep" : "flat").utf8),
            Array(lock.scope.rawValue.utf8), Array("\(lock.timeout)".utf8),
            Array("\(lock.expiry)".utf8), Array(lock.owner.utf8),
            lock.user.map { Array("=".utf8) + $0.utf8 } ?? [],
        ]
        return line(fields)
    }

    /// A line that removes a lock.
    static func line(removing token: LockToken) -> [UInt8] {
        line([Array("-".utf8), Array(token.uri.utf8)])
    }

    private static func line(_ fields: [[UInt8]]) -> [UInt8] {
        var line: [UInt8] = []
        for field in fields {
            if !line.isEmpty { line.append(0x20) }
            line += PercentEncoding.encode(bytes: field).utf8
        }
        return line + [0x0A]
    }

    private static func record(_ line: ArraySlice<UInt8>) -> Record? {
        let fields = line.split(separator: 0x20, omittingEmptySubsequences: false)
            .compactMap { decoded(Array($0)) }
        if fields.count == 2, fields[0] == [UInt8(ascii: "-")] {
            return .removal(LockToken(uri: text(fields[1])))
        }
        let names = fields.count == 8 ? fields[1].split(separator: 0x2F).map { Array($0) } : []
        guard fields.count == 8, let root = ResourcePath(segments: names),
            let scope = ActiveLock.Scope(rawValue: text(fields[3])),
            let timeout = FieldValues.parseDecimal(text(fields[4])),
            let expiry = FieldValues.parseDecimal(text(fields[5]))
        else { return nil }
        return .lock(
            ActiveLock(
                token: LockToken(uri: text(fields[0])), root: root,
                isCollection: fields[1].last == 0x2F, isDeep: text(fields[2]) == "deep",
                scope: scope, owner: text(fields[6]),
                user: fields[7].isEmpty ? nil : text(Array(fields[7].dropFirst())),
                timeout: Int(timeout), expiry: expiry))
    }

    /// A field without percent-encoding. A user's name may contain any character, but the line
    /// itself contains no NUL.
    private static func decoded(_ field: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        guard !field.contains(0),
            PercentEncoding.decode(field.span, keepsInvalid: false, into: &bytes) == nil
        else { return nil }
        return bytes
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
