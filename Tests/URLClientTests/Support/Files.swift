import Foundation

/// Operations of the file system that the tests need.
enum Files {
    /// The same file by a path that begins in the current folder.
    static func relative(_ path: String) -> String {
        let folder = FileManager.default.currentDirectoryPath
        let depth = folder.split(separator: "/").count
        return String(repeating: "../", count: depth) + path.drop { $0 == "/" }
    }

    /// Reads by a handle, because reading an empty file by its path leaks in Foundation for Linux.
    static func read(_ path: String) -> [UInt8]? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        do {
            return Array(try file.readToEnd() ?? Data())
        } catch {
            return nil
        }
    }

    /// Whether there was a file to remove.
    static func remove(_ path: String) -> Bool {
        (try? FileManager.default.removeItem(atPath: path)) != nil
    }

    /// Renames a file to the name of another one.
    /// - Returns: whether that was possible.
    static func replace(_ path: String, by other: String) -> Bool {
        unsafe rename(other, path) == 0
    }

    static func names(_ folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    }

    /// How many descriptors this process has.
    static func descriptorCount() -> Int { names("/proc/self/fd").count }

    /// How many of the descriptors are files below a folder.
    static func descriptorCount(below folder: String) -> Int { descriptors(below: folder).count }

    /// The descriptors that are files below a folder.
    static func descriptors(below folder: String) -> [Int32] {
        names("/proc/self/fd").compactMap { name in
            let path = try? FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/self/fd/\(name)")
            return path?.hasPrefix("\(folder)/") == true ? Int32(name) : nil
        }
    }

    /// How many threads this process has.
    static func threadCount() -> Int { names("/proc/self/task").count }

    /// The memory that this process uses, in bytes.
    static func residentBytes() -> Int {
        let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        let pages = text?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * 4096
    }

    /// The most memory that this process has used so far, in bytes.
    static func peakBytes() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) << 10
    }
}
