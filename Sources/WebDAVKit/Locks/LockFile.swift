internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore

/// A file of locks, written whole and renamed.
final class LockFile: Sendable {
    private static let byteLimit = 256 << 20

    private let path: String
    private let writing = Locked(())

    private var newPath: String { path + ".new" }

    init(path: String) {
        self.path = path
    }

    /// The locks of the file; none where it cannot be read.
    func read() -> [ActiveLock] {
        // A process that died while it wrote has left this.
        Syscalls.removeFile(newPath)
        guard let bytes = try? Syscalls.readFile(path, upTo: Self.byteLimit) else { return [] }
        return bytes.split(separator: 0x0A).compactMap { Self.lock(Array($0)) }
    }

    func write(_ locks: () -> [ActiveLock]) throws(SystemError) {
        let result: Result<Void, SystemError> = writing.withLock { _ in
            do throws(SystemError) {
                let text = locks().map { Self.line($0) + "\n" }.joined()
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

    /// Fields with a space between them, percent-encoded.
    private static func line(_ lock: ActiveLock) -> String {
        let fields = [
            lock.token.uri, String(decoding: lock.root.bytes, as: UTF8.self),
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
            token: LockToken(uri: fields[0]), root: root, isDeep: fields[2] == "deep", scope: scope,
            owner: fields[6], user: fields[7].isEmpty ? nil : String(fields[7].dropFirst()),
            timeout: Int(timeout), expiry: expiry)
    }
}
