internal import HTTPParser
internal import HTTPServerCore
internal import ToolkitSystem

/// The path of a file below its root, as the system wants it, out of a request's path.
struct FilePath: Hashable, Sendable {
    /// Segments joined by slashes, without any at the front, with NUL at the end.
    private var bytes: [UInt8]

    /// `nil` when an escape is ill-formed or the path rises above its root.
    init?(_ request: borrowing Request) {
        if let plain = Self.plain(request) {
            bytes = plain
            return
        }
        guard let segments = request.pathSegments else { return nil }
        // The mount point itself without a slash is a directory's name.
        bytes = segments.isEmpty ? [UInt8(ascii: ".")] : []
        for (index, segment) in segments.enumerated() {
            // A decoded slash would be a separator for the system: no file has such a name.
            guard !segment.contains(UInt8(ascii: "/")) else {
                bytes = [UInt8(ascii: "/"), 0]
                return
            }
            if index > 0 { bytes.append(UInt8(ascii: "/")) }
            bytes += segment
        }
        bytes.append(0)
    }

    /// The usual path needs no decoding: it is copied as it stands behind the mount point.
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
        // This way the compiler knows the type of what is allocated, and no lookup is needed.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(path.count - start + 1)
        unsafe bytes.append(contentsOf: path[start...])
        bytes.append(0)
        return bytes
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// A path of the program's own; it cannot lead out either.
    init(inRoot path: String) {
        bytes = PathNormalization.normalized("/" + path).utf8.dropFirst() + [0]
    }

    func appending(_ name: String) -> FilePath {
        FilePath(bytes: bytes.dropLast() + name.utf8 + [0])
    }

    /// Whether the name is one that is served: no segment that begins with a dot, unless hidden
    /// ones are shown, and then none of the toolkit's own; no slash out of an escape.
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

    /// Whether it names a directory as a directory; the root does.
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

    /// The current entry; a link at the end of the path is not followed.
    func status(in root: RootDirectory) -> FileStatus? {
        unsafe withPath { unsafe root.status(at: $0) } ?? nil
    }

    /// - Returns: `nil` without a path, which none has.
    private func withPath<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result? {
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe bytes.baseAddress.map { unsafe body($0.assumingMemoryBound(to: CChar.self)) }
        }
    }

    /// The folders on the way to it, from the root's own on.
    var parents: [FilePath] {
        let slash = UInt8(ascii: "/")
        return bytes.indices.filter { bytes[$0] == slash && $0 > 0 }
            .map { FilePath(bytes: bytes[..<$0] + [0]) }
    }

    /// All bytes at once.
    func hash(into hasher: inout Hasher) {
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }

    /// The path as bytes, without NUL at the end.
    var utf8: [UInt8] { bytes.dropLast() }

    /// The name of the file itself, given to `body` in place.
    func withLastSegment<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let slash = UInt8(ascii: "/")
        let start = bytes.lastIndex(of: slash).map { $0 + 1 } ?? 0
        return unsafe bytes.withUnsafeBytes { all in
            unsafe body(UnsafeRawBufferPointer(rebasing: all[start..<(all.count - 1)]))
        }
    }

    /// Whether the last name looks like one with an extension.
    var lastNameHasDot: Bool {
        directorySegments.last?.contains(UInt8(ascii: ".")) ?? false
    }

    /// The segments of a directory's path.
    var directorySegments: [[UInt8]] {
        bytes.dropLast().split(separator: UInt8(ascii: "/")).map { Array($0) }
    }
}
