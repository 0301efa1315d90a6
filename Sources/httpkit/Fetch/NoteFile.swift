internal import ToolkitSystem

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The file beside a transfer that says how to go on with it. Another file of that name stays.
struct NoteFile<Content: Codable> {
    let url: URL

    /// - Parameter path: of the file that is transferred.
    init(besides path: String) {
        url = URL(fileURLWithPath: path + ".resume")
    }

    /// The note; `nil` when there is none, or another file. A note that another user has made does
    /// not count, because it could have a file sent elsewhere.
    var content: Content? {
        guard let file = OpenFile(own: url.path),
            let bytes = try? file.content(upTo: NoteFiles.sizeLimit)
        else { return nil }
        return try? JSONDecoder().decode(Content.self, from: Data(bytes))
    }

    /// - Throws: `NoteFiles.Taken` when another file has the name; an error of the disk.
    func write(_ content: Content) throws {
        var status = stat()
        guard unsafe lstat(url.path, &status) != 0 || self.content != nil else {
            throw NoteFiles.Taken()
        }
        try JSONEncoder().encode(content).write(to: url, options: .atomic)
    }

    func remove() {
        if content != nil { _ = unsafe unlink(url.path) }
    }
}

/// Belongs to the notes of all transfers.
enum NoteFiles {
    /// Far more than a URL and the validator of a server need.
    static let sizeLimit = 64 << 10

    /// A file that is no note of this kind has the name of one.
    struct Taken: Error, CustomStringConvertible {
        var description: String { "another file has its name" }
    }

    /// Whether it is a regular file of this user.
    static func isOwn(_ status: stat) -> Bool {
        status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid()
    }

    static func isOwnOrMissing(_ path: String) -> Bool {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return errno == ENOENT }
        return isOwn(status)
    }
}

extension OpenFile {
    /// Opens a regular file of this user for reading; a link is none. Attributes and contents of other
    /// users' files are not to be believed.
    convenience init?(own path: String) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        self.init(owning: descriptor)
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, NoteFiles.isOwn(status) else { return nil }
    }
}
