internal import HTTPParser
internal import HTTPServerCore
internal import ToolkitSystem

/// The path of a file relative to its root, in the form of system calls.
struct FilePath: Hashable, Sendable {
    /// Segments joined by slashes, without a leading slash, with NUL at the end.
    private var bytes: [UInt8]

    /// The path that a request names, after the mount point; `nil` if an escape is ill-formed, a
    /// segment contains NUL, or the path rises above its root.
    init?(_ request: borrowing Request) {
        if let plain = Self.plain(request) {
            bytes = plain
            return
        }
        guard let segments = request.pathSegments else { return nil }
        // The mount point itself without a slash is a directory's name.
        bytes = segments.isEmpty ? [UInt8(ascii: ".")] : []
        for (index, segment) in segments.enumerated() {
            // The system would take a decoded slash for a separator, and no file has such a name.
            // This path is not servable.
            guard !segment.contains(UInt8(ascii: "/")) else {
                bytes = [UInt8(ascii: "/"), 0]
                return
            }
            if index > 0 { bytes.append(UInt8(ascii: "/")) }
            bytes += segment
        }
        bytes.append(0)
    }

    /// A canonical path, copied from after the mount point without decoding; `nil` for others.
    private static func plain(_ request: Request) -> [UInt8]? {
        guard let path = unsafe CanonicalPath.path(of: request.targetBytes),
            unsafe CanonicalPath.isCanonical(path)
        else { return nil }
        var start = 1
        for _ in 0..<request.mountDepth {
            while start < path.count, unsafe path[start] != UInt8(ascii: "/") { start += 1 }
            start += 1
        }
        // The mount point itself without a slash is a directory's name.
        guard start <= path.count else { return [UInt8(ascii: "."), 0] }
        // With a typed empty array the compiler knows the allocated type, and needs no lookup.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(path.count - start + 1)
        unsafe bytes.append(contentsOf: path[start...])
        bytes.append(0)
        return bytes
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// A path from the program, normalized so that it cannot lead above the root.
    init(inRoot path: String) {
        bytes = PathNormalization.normalized("/" + path).utf8.dropFirst() + [0]
    }

    func appending(_ name: String) -> FilePath {
        FilePath(bytes: bytes.dropLast() + name.utf8 + [0])
    }

    /// Whether the path may be served. No segment may be hidden or, with `showsHidden`, reserved
    /// for the toolkit, and no escape may have contained a slash.
    func isServable(showsHidden: Bool) -> Bool {
        let slash = UInt8(ascii: "/")
        let dot = UInt8(ascii: ".")
        guard bytes.first != slash else { return false }
        guard bytes != [dot, 0] else { return true }
        guard !showsHidden else {
            return !ReservedNames.areIn(bytes.span.extracting(droppingLast: 1))
        }
        return !ReservedNames.hidesIn(bytes.span.extracting(droppingLast: 1))
    }

    /// Whether the path ends with a slash or is that of the root, and so must name a directory.
    var endsWithSlash: Bool {
        bytes.count < 2 || bytes[bytes.count - 2] == UInt8(ascii: "/")
    }

    func open(in root: RootDirectory) throws(SystemError) -> CInt {
        let result: Result<CInt, SystemError> =
            unsafe withPath { path in
                do throws(SystemError) {
                    return .success(try unsafe root.openFile(path))
                } catch {
                    return .failure(error)
                }
            } ?? .failure(SystemError("open"))
        return try result.get()
    }

    /// The current status; a link at the end of the path is not followed.
    func status(in root: RootDirectory) -> FileStatus? {
        unsafe withPath { unsafe root.status(at: $0) } ?? nil
    }

    /// - Returns: `nil` for an empty array, which never occurs.
    private func withPath<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result? {
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe bytes.baseAddress.map { unsafe body($0.assumingMemoryBound(to: CChar.self)) }
        }
    }

    /// The folders that contain it, from the outermost below the root on.
    var parents: [FilePath] {
        let slash = UInt8(ascii: "/")
        return bytes.indices.filter { bytes[$0] == slash && $0 > 0 }
            .map { FilePath(bytes: bytes[..<$0] + [0]) }
    }

    /// Hashes all bytes in one call, which is faster than one call per byte.
    func hash(into hasher: inout Hasher) {
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }

    /// The path as bytes, without NUL at the end.
    var utf8: [UInt8] { bytes.dropLast() }

    /// Lends the last segment to `body`, without a copy.
    func withLastSegment<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let slash = UInt8(ascii: "/")
        let start = bytes.lastIndex(of: slash).map { $0 + 1 } ?? 0
        return unsafe bytes.withUnsafeBytes { all in
            unsafe body(UnsafeRawBufferPointer(rebasing: all[start..<(all.count - 1)]))
        }
    }

    /// Whether the last segment contains a dot, as names with an extension do.
    var lastNameHasDot: Bool {
        directorySegments.last?.contains(UInt8(ascii: ".")) ?? false
    }

    /// The segments of a directory's path.
    var directorySegments: [[UInt8]] {
        bytes.dropLast().split(separator: UInt8(ascii: "/")).map { Array($0) }
    }
}
