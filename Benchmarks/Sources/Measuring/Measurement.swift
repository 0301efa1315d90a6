internal import Glibc

/// The resources that the process has used since a moment, printed as `client.py` reads them.
public struct Measurement {
    private let start = Self.wall()
    private let startCPU = Self.cpu()

    /// Begins now.
    public init() {}

    /// Prints `RESULT requests bytes wall-us cpu-us peak-KiB`.
    public func report(requests: Int, bytes: Int64) {
        let wall = Self.wall() - start
        let cpu = Self.cpu() - startCPU
        print("RESULT \(requests) \(bytes) \(wall) \(cpu) \(Self.peak())")
    }

    private static func wall() -> Int64 {
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
    }

    private static func cpu() -> Int64 {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let (user, system) = (usage.ru_utime, usage.ru_stime)
        return Int64(user.tv_sec + system.tv_sec) * 1_000_000 + Int64(user.tv_usec + system.tv_usec)
    }

    /// The most memory that was resident at once.
    private static func peak() -> Int {
        guard let file = unsafe fopen("/proc/self/status", "r") else { return 0 }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while unsafe fgets(&line, CInt(line.count), file) != nil {
            let text = String(
                decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.hasPrefix("VmHWM:") else { continue }
            return Int(text.filter(\.isNumber)) ?? 0
        }
        return 0
    }
}
