internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore

/// Why a file of locks cannot be used.
public struct LockFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file.
    public let path: String
    /// What is wrong with it, in a few words.
    public let reason: String

    /// File and reason.
    public var description: String { "\(path): \(reason)" }
}

/// A file of locks, written whole and renamed.
final class LockFile: Sendable {
    private static let byteLimit = 256 << 20

    private let path: String
    private let writing = Locked(())

    private var newPath: String { path + ".new" }

    init(path: String) {
        self.path = path
    }

    /// The locks of the file; none where there is no file yet. One that cannot be read is not
    /// taken for an empty one: the next change would replace it, and what it is may be of use.
    func read() throws(LockFileError) -> [ActiveLock] {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try Syscalls.readFile(path, upTo: Self.byteLimit)
        } catch {
            guard error.isMissing else { throw LockFileError(path: path, reason: error.reason) }
            bytes = []
        }
        var locks: [ActiveLock] = []
        for line in bytes.split(separator: 0x0A) {
            guard let lock = Self.lock(Array(line)) else {
                throw LockFileError(path: path, reason: "it holds something else than locks")
            }
            locks.append(lock)
        }
        // A process that died while it wrote has left this.
        Syscalls.removeFile(newPath)
        return locks
    }

    func write(_ locks: () -> [ActiveLock]) throws(SystemError) {
        let result: Result<Void, SystemError> = writing.withLock { _ in
            do throws(SystemError) {
                let text = locks().map { Self.line($0) + "\n" }.joined()
                // What could not be read again would keep the next start from any.
                guard text.utf8.count <= Self.byteLimit else { throw SystemError.tooLarge("write") }
                Syscalls.removeFile(newPath)
                let file = OpenFile(owning: try Syscalls.createFile(newPath))
                try file.write(Array(text.utf8))
                try Syscalls.moveFile(newPath, to: path, replaces: true)
                return .success(())
            } catch {
                Syscalls.removeFile(newPath)
                return .failure(error)
            }
        }
        try result.get()
    }

    /// Fields with a space between them, percent-encoded. The path of a collection ends with a
    /// slash.
    private static func line(_ lock: ActiveLock) -> String {
        let root = String(decoding: lock.root.bytes, as: UTF8.self)
        let fields = [
            lock.token.uri, lock.isCollection ? root + "/" : root,
            lock.isDeep ? "deep" : "flat", lock.scope.rawValue, "\(lock.timeout)", "\(lock.expiry)",
            lock.owner, lock.user.map { "=" + $0 } ?? "",
        ]
        return fields.map { PercentEncoding.encode($0) }.joined(separator: " ")
    }

    private static func lock(_ line: [UInt8]) -> ActiveLock? {
        let fields = String(decoding: line, as: UTF8.self)
            .split(separator: " ", omittingEmptySubsequences: false)
            .compactMap { try? PercentEncoding.decode(String($0)) }
        guard fields.count == 8, let root = ResourcePath(fields[1]),
            let scope = ActiveLock.Scope(rawValue: fields[3]),
            let timeout = FieldValues.parseDecimal(fields[4]),
            let expiry = FieldValues.parseDecimal(fields[5])
        else { return nil }
        return ActiveLock(
            token: LockToken(uri: fields[0]), root: root,
            isCollection: fields[1].hasSuffix("/"), isDeep: fields[2] == "deep", scope: scope,
            owner: fields[6], user: fields[7].isEmpty ? nil : String(fields[7].dropFirst()),
            timeout: Int(timeout), expiry: expiry)
    }
}
