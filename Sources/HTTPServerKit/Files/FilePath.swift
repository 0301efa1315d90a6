internal import HTTPParser
internal import HTTPServerCore
internal import ToolkitSystem

/// The path of a file below its root, as the system wants it, out of a request's path.
struct FilePath: Hashable, Sendable {
    /// Segments joined by slashes, without any at the front, with NUL at the end.
    private var bytes: [CChar]

    /// `nil` when an escape is ill-formed or the path rises above its root.
    init?(_ request: Request) {
        if let plain = Self.plain(request) {
            bytes = plain
            return
        }
        guard let segments = request.pathSegments else { return nil }
        // The mount point itself without a slash is a directory's name.
        bytes = segments.isEmpty ? [CChar(bitPattern: UInt8(ascii: "."))] : []
        for (index, segment) in segments.enumerated() {
            // A decoded slash would be a separator for the system: no file has such a name.
            guard !segment.contains(UInt8(ascii: "/")) else {
                bytes = [CChar(bitPattern: UInt8(ascii: "/")), 0]
                return
            }
            if index > 0 { bytes.append(CChar(bitPattern: UInt8(ascii: "/"))) }
            bytes += segment.map(CChar.init(bitPattern:))
        }
        bytes.append(0)
    }

    /// The usual path needs no decoding: it is copied as it stands behind the mount point.
    private static func plain(_ request: Request) -> [CChar]? {
        guard let path = unsafe CanonicalPath.path(of: request.targetBytes),
            unsafe CanonicalPath.isCanonical(path)
        else { return nil }
        var start = 1
        for _ in 0..<request.mountDepth {
            while start < path.count, unsafe path[start] != UInt8(ascii: "/") { start += 1 }
            start += 1
        }
        // The mount point itself without a slash is a directory's name.
        guard start <= path.count else { return [CChar(bitPattern: UInt8(ascii: ".")), 0] }
        return unsafe Array(unsafeUninitializedCapacity: path.count - start + 1) { room, count in
            let rest = unsafe UnsafeRawBufferPointer(rebasing: path[start...])
            unsafe UnsafeMutableRawBufferPointer(room).copyMemory(from: rest)
            count = rest.count + 1
            unsafe room[rest.count] = 0
        }
    }

    private init(bytes: [CChar]) {
        self.bytes = bytes
    }

    /// A path of the program's own; it cannot lead out either.
    init(inRoot path: String) {
        bytes =
            PathNormalization.normalized("/" + path).utf8.dropFirst()
            .map(CChar.init(bitPattern:)) + [0]
    }

    func appending(_ name: String) -> FilePath {
        FilePath(bytes: bytes.dropLast() + name.utf8.map(CChar.init(bitPattern:)) + [0])
    }

    /// Whether the name is one that is served: no segment that begins with a dot, unless hidden
    /// ones are shown, and then none of the toolkit's own; no slash out of an escape.
    func isServable(showsHidden: Bool) -> Bool {
        let slash = CChar(bitPattern: UInt8(ascii: "/"))
        let dot = CChar(bitPattern: UInt8(ascii: "."))
        guard bytes.first != slash else { return false }
        guard bytes != [dot, 0] else { return true }
        guard !showsHidden else {
            return !ReservedNames.areIn(bytes.dropLast().lazy.map(UInt8.init(bitPattern:)))
        }
        var previous = slash
        for byte in bytes {
            if byte == dot, previous == slash { return false }
            previous = byte
        }
        return true
    }

    /// Whether it names a directory as a directory; the root does.
    var endsWithSlash: Bool {
        bytes.count < 2 || bytes[bytes.count - 2] == CChar(bitPattern: UInt8(ascii: "/"))
    }

    func open(in root: RootDirectory) throws(SystemError) -> CInt {
        let result: Result<CInt, SystemError> = unsafe bytes.withUnsafeBufferPointer { path in
            guard let start = path.baseAddress else { return .failure(SystemError("open")) }
            do throws(SystemError) {
                return .success(try unsafe root.openFile(start))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// The current entry; a link at the end of the path is not followed.
    func status(in root: RootDirectory) -> FileStatus? {
        unsafe bytes.withUnsafeBufferPointer { path in
            guard let start = path.baseAddress else { return nil }
            return unsafe root.status(at: start)
        }
    }

    /// The folders on the way to it, from the root's own on.
    var parents: [FilePath] {
        let slash = CChar(bitPattern: UInt8(ascii: "/"))
        return bytes.indices.filter { bytes[$0] == slash && $0 > 0 }
            .map { FilePath(bytes: bytes[..<$0] + [0]) }
    }

    /// All bytes at once.
    func hash(into hasher: inout Hasher) {
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }

    /// The path as bytes, without NUL at the end.
    var utf8: [UInt8] { bytes.dropLast().map(UInt8.init(bitPattern:)) }

    /// The name of the file itself, given to `body` in place.
    func withLastSegment<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let slash = CChar(bitPattern: UInt8(ascii: "/"))
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
        bytes.dropLast().split(separator: CChar(bitPattern: UInt8(ascii: "/"))).map { segment in
            segment.map(UInt8.init(bitPattern:))
        }
    }
}
