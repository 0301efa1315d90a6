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

/// The file next to a transferred file, with the data to resume the transfer. Any other file with
/// its name is left unchanged.
struct NoteFile<Content: Codable> {
    let url: URL

    /// - Parameter path: the path of the transferred file.
    init(besides path: String) {
        url = URL(fileURLWithPath: path + ".resume")
    }

    /// The note; `nil` if there is no valid one. A note of another user is ignored, because it
    /// could direct a file to another server.
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

/// Definitions for the notes of all transfers.
enum NoteFiles {
    /// Far more than a URL and the validator of a server need.
    static let sizeLimit = 64 << 10

    /// The name of the note belongs to a file that is not a note.
    struct Taken: Error, CustomStringConvertible {
        var description: String { "another file has the same name" }
    }

    /// Whether a file is a regular file of this user.
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
    /// Opens a regular file of this user for reading; `nil` for other files and for links.
    /// Attributes and contents of other users' files are not trusted.
    convenience init?(own path: String) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        self.init(owning: descriptor)
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, NoteFiles.isOwn(status) else { return nil }
    }
}
