import Foundation

/// What the tests ask of the file system.
enum Files {
    /// By a handle: reading an empty file whole leaks in Foundation for Linux.
    static func read(_ path: String) -> [UInt8]? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        do {
            return Array(try file.readToEnd() ?? Data())
        } catch {
            return nil
        }
    }

    static func names(_ folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    }

    /// How many descriptors this process has.
    static func descriptorCount() -> Int { names("/proc/self/fd").count }

    /// The memory that this process uses, in bytes.
    static func residentBytes() -> Int {
        let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        let pages = text?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * 4096
    }
}
