#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The process's environment variables, and its use of resources.
enum Environment {
    /// The value of a variable, if it is a number.
    static func number(_ name: String) -> Int? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe Int(String(cString: value))
    }

    struct Use: CustomStringConvertible {
        var descriptors: Int
        /// Bytes of memory that the process has touched; 0 where /proc is missing.
        var memory: Int

        var description: String { "\(descriptors) descriptors, \(memory >> 10) KiB" }
    }

    /// The process's use of resources now.
    static func use() -> Use {
        let open = (0..<4096).count { fcntl(CInt($0), F_GETFD, 0) >= 0 }
        guard let file = unsafe fopen("/proc/self/statm", "r") else {
            return Use(descriptors: open, memory: 0)
        }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard unsafe fgets(&line, 256, file) != nil else {
            return Use(descriptors: open, memory: 0)
        }
        let bytes = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        let pages = words.count > 1 ? Int(words[1]) ?? 0 : 0
        return Use(descriptors: open, memory: pages << 12)
    }
}
