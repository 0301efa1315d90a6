import Foundation
import TestSupport

/// A temporary directory that is removed when the object is released.
final class Folder: Sendable {
    let url: URL

    init() throws {
        url = URL(fileURLWithPath: TestFolder.name("httpkit-"))
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        TestFolder.remove(path)
    }

    var path: String { url.path }

    func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    func write(_ content: String, to name: String) throws {
        try write(Array(content.utf8), to: name)
    }

    /// Writes a file, and creates its directories.
    func write(_ content: [UInt8], to name: String) throws {
        let target = file(name)
        try FileManager.default.createDirectory(
            at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(content).write(to: target)
    }

    /// Reads with a handle, because Foundation for Linux leaks memory when it reads an empty file.
    func bytes(_ name: String) -> [UInt8] { Self.bytes(at: file(name).path) }

    static func bytes(at path: String) -> [UInt8] {
        guard let handle = FileHandle(forReadingAtPath: path) else { return [] }
        return Array((try? handle.readToEnd()) ?? Data())
    }

    func text(_ name: String) -> String { String(decoding: bytes(name), as: UTF8.self) }
}

extension [UInt8] {
    /// The same noise for the same seed, so that misplaced bytes are detected.
    static func noise(_ count: Int, seed: UInt64) -> [UInt8] {
        var state = seed &* 2_862_933_555_777_941_757 &+ 3_037_000_493
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { room, filled in
            for index in 0..<count {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                unsafe room[index] = UInt8(truncatingIfNeeded: state >> 56)
            }
            filled = count
        }
    }
}
