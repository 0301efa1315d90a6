internal import HTTPServerCore
import ToolkitSystem

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A separate directory for a test, removed with its content.
package final class ServerDirectory: Sendable {
    package let path: String

    /// A call that failed.
    package struct Failure: Error {
        package var call: String
        package var code: CInt

        init(_ call: String) {
            self.call = call
            code = errno
        }
    }

    package init() throws {
        path = TestFolder.name("server-")
        guard unsafe mkdir(path, 0o700) == 0 else { throw Failure("mkdir") }
    }

    deinit {
        TestFolder.remove(path)
    }

    /// The path of something in it.
    package func path(_ name: String) -> String { path + "/" + name }

    /// Writes a file.
    package func write(_ name: String, _ content: [UInt8]) throws {
        let file = unsafe open(path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure("open") }
        defer { close(file) }
        let written = unsafe content.withUnsafeBytes { unsafe Self.write(file, $0) }
        guard written == content.count else { throw Failure("write") }
    }

    private static func write(_ file: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Darwin)
            unsafe Darwin.write(file, bytes.baseAddress, bytes.count)
        #elseif canImport(Glibc)
            unsafe Glibc.write(file, bytes.baseAddress, bytes.count)
        #else
            unsafe Musl.write(file, bytes.baseAddress, bytes.count)
        #endif
    }

    /// Writes a file of text.
    package func write(_ name: String, _ text: String) throws {
        try write(name, Array(text.utf8))
    }

    /// Makes a directory.
    package func makeDirectory(_ name: String) throws {
        guard unsafe mkdir(path(name), 0o700) == 0 else { throw Failure("mkdir") }
    }

    /// Makes a symbolic link.
    package func link(_ name: String, to target: String) throws {
        guard unsafe symlink(target, path(name)) == 0 else { throw Failure("symlink") }
    }

    /// Makes a pipe with a name.
    package func makePipe(_ name: String) throws {
        guard unsafe mkfifo(path(name), 0o600) == 0 else { throw Failure("mkfifo") }
    }

    /// Makes an empty character device, such as /dev/null.
    /// - Returns: whether the system allows it.
    package func makeNullDevice(_ name: String) -> Bool {
        unsafe mknod(path(name), S_IFCHR | 0o600, 0x103) == 0
    }

    /// Makes a Unix socket without a listener.
    package func makeStaleSocket(_ name: String) throws {
        let listener = try Listener.bind(unixPath: path("other"), backlog: 1)
        try rename("other", to: name)
        withExtendedLifetime(listener) {}
    }

    /// Renames a file, and replaces a file that already has the new name.
    package func rename(_ name: String, to other: String) throws {
        #if canImport(Darwin)
            let result = unsafe Darwin.rename(path(name), path(other))
        #elseif canImport(Glibc)
            let result = unsafe Glibc.rename(path(name), path(other))
        #else
            let result = unsafe Musl.rename(path(name), path(other))
        #endif
        guard result == 0 else { throw Failure("rename") }
    }

    /// Removes a file.
    package func remove(_ name: String) throws {
        guard unsafe unlink(path(name)) == 0 else { throw Failure("unlink") }
    }

    /// Truncates a file.
    package func truncate(_ name: String, to length: Int) throws {
        let result = self.truncate(path: path(name), off_t(length))
        guard result == 0 else { throw Failure("truncate") }
    }

    private func truncate(path: String, _ length: off_t) -> CInt {
        #if canImport(Darwin)
            unsafe Darwin.truncate(path, length)
        #elseif canImport(Glibc)
            unsafe Glibc.truncate(path, length)
        #else
            unsafe Musl.truncate(path, length)
        #endif
    }

    /// Sets the time of the last change, in seconds since the epoch.
    package func setModified(_ name: String, _ seconds: Int) throws {
        let time = timespec(tv_sec: seconds, tv_nsec: 0)
        let result = unsafe [time, time].withUnsafeBufferPointer {
            unsafe utimensat(AT_FDCWD, path(name), $0.baseAddress, 0)
        }
        guard result == 0 else { throw Failure("utimensat") }
    }

    /// Whether there is something with this name.
    package func exists(_ name: String) -> Bool {
        var status = stat()
        return unsafe lstat(path(name), &status) == 0
    }
}
