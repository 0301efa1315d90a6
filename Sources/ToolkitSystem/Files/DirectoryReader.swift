#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Reads the names in a directory one by one. Any thread may call it, but only one at a time.
@safe
package final class DirectoryReader: @unchecked Sendable {
    package let directory: OpenDirectory
    #if canImport(Darwin)
        private let stream: UnsafeMutablePointer<DIR>
    #else
        private let stream: OpaquePointer
    #endif

    /// - Parameter directory: an open directory, whose descriptor is opened a second time.
    package init(_ directory: OpenDirectory) throws(SystemError) {
        self.directory = directory
        let copy = unsafe openat(
            directory.file.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let stream = unsafe fdopendir(copy) else {
            if copy >= 0 { Syscalls.close(copy) }
            throw SystemError("opendir")
        }
        unsafe self.stream = stream
    }

    deinit {
        unsafe closedir(stream)
    }

    /// The next name, without `.` and `..`; `nil` after the last.
    package func next() throws(SystemError) -> [UInt8]? {
        while true {
            // Otherwise an error would look like the end.
            errno = 0
            guard let entry = unsafe readdir(stream) else {
                guard errno == 0 else { throw SystemError("readdir") }
                return nil
            }
            let name = unsafe RootDirectory.name(of: entry)
            if name != [0x2E], name != [0x2E, 0x2E] { return name }
        }
    }
}
