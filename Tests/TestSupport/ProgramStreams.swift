#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Files in place of a program's pipes: they never fill up and block.
final class ProgramStreams: Sendable {
    let input: UnnamedFile
    let output: UnnamedFile
    let complaints: UnnamedFile

    init(input bytes: [UInt8]) throws {
        input = try UnnamedFile()
        output = try UnnamedFile()
        complaints = try UnnamedFile()
        try input.write(bytes)
    }
}

/// An open temporary file without a name, which disappears when it is closed. Program and tests
/// share its position, which only the program uses; the tests read and write at given offsets.
final class UnnamedFile: Sendable {
    let descriptor: CInt

    init() throws {
        let name = "/tmp/http-test-stream-\(UInt64.random(in: 0 ... .max))"
        descriptor = unsafe open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw ServerDirectory.Failure("open") }
        _ = unsafe unlink(name)
    }

    deinit { close(descriptor) }

    func write(_ bytes: [UInt8]) throws {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { all in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: all[written...])
                return unsafe pwrite(descriptor, rest.baseAddress, rest.count, off_t(written))
            }
            guard count > 0 else { throw ServerDirectory.Failure("pwrite") }
            written += count
        }
    }

    /// All bytes so far.
    func bytes() -> [UInt8] {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return [] }
        let size = Int(status.st_size)
        // Arrays without capacity share one object in memory, which they also write to.
        guard size > 0 else { return [] }
        return unsafe [UInt8](unsafeUninitializedCapacity: size) { room, filled in
            filled = 0
            while filled < size {
                let rest = unsafe UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(room)[filled...])
                let count = unsafe pread(descriptor, rest.baseAddress, rest.count, off_t(filled))
                guard count > 0 else { return }
                filled += count
            }
        }
    }
}
