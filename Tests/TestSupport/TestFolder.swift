internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The folder of all files that the tests of this process write. It is removed with its content
/// when the process ends: a server whose end was not awaited may use its files until then.
package enum TestFolder {
    /// Its path. It is short, because paths of Unix sockets have to be short.
    package static let path: String = {
        guard let made = try? make("/tmp/http-tests-") else { return "/tmp" }
        atexit { TestFolder.remove(TestFolder.path) }
        return made
    }()

    /// A new name in it.
    package static func name(_ prefix: String) -> String {
        let number = count.wrappingAdd(1, ordering: .relaxed).newValue
        return "\(path)/\(prefix)\(number)"
    }

    private static let count = Atomic<Int>(0)

    private static func make(_ prefix: String) throws -> String {
        var name = Array("\(prefix)XXXXXX".utf8CString)
        let made = unsafe name.withUnsafeMutableBufferPointer { name in
            unsafe name.baseAddress.map { unsafe mkdtemp($0) != nil } ?? false
        }
        guard made else { throw ServerDirectory.Failure("mkdtemp") }
        // Some servers run as another user.
        unsafe chmod(name, 0o755)
        return String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Removes a file or a folder with its content. Servers and caches that have not ended may
    /// remove or write files meanwhile, so this repeats until nothing is left.
    package static func remove(_ path: String) {
        guard path != "/tmp" else { return }
        var status = stat()
        for _ in 0..<1000 where unsafe lstat(path, &status) == 0 {
            unsafe remove(path, in: AT_FDCWD)
        }
    }

    /// Names are bytes here, because some are not UTF-8.
    private static func remove(_ name: UnsafePointer<CChar>, in parent: CInt) {
        guard unsafe unlinkat(parent, name, 0) != 0 else { return }
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let folder = unsafe openat(parent, name, flags)
        guard folder >= 0, let stream = unsafe fdopendir(folder) else { return }
        while let entry = unsafe readdir(stream) {
            let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
            let start = unsafe (UnsafeRawPointer(entry) + offset)
            let inner = unsafe start.assumingMemoryBound(to: CChar.self)
            let isDot = unsafe strcmp(inner, ".") == 0 || strcmp(inner, "..") == 0
            if !isDot { unsafe remove(inner, in: folder) }
        }
        unsafe closedir(stream)
        _ = unsafe unlinkat(parent, name, AT_REMOVEDIR)
    }
}
