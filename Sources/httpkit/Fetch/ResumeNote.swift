internal import ToolkitSystem
import URLClient

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

/// The file beside a download that says how to go on with it.
struct ResumeNote {
    private struct Content: Codable {
        /// The URL of the call; redirects may have led elsewhere.
        var request: URL
        var rest: ResumeData
    }

    private let url: URL
    private let file: String
    private let folder: URL
    private let request: URL
    /// The name of the part that this call writes.
    private let own = Locked<String?>(nil)
    private let showsMessages: Bool

    /// - Parameters:
    ///   - file: the path of the download.
    ///   - request: the URL that it is asked for at.
    ///   - showsMessages: whether standard error says why it cannot be written.
    init(file path: String, request: URL, showsMessages: Bool = true) {
        let path = URL(fileURLWithPath: path)
        file = path.lastPathComponent
        folder = path.deletingLastPathComponent()
        url = folder.appendingPathComponent(file + ".resume")
        self.request = request
        self.showsMessages = showsMessages
    }

    /// The note of an earlier call for the same URL, with as many bytes as its part has: that call may
    /// have been killed. Nil when there is none, or when it cannot be read.
    func read() -> ResumeData? {
        guard let content, content.request == request, let data = content.rest.measured() else {
            return nil
        }
        own.withLock { $0 = name(of: data) }
        return data
    }

    /// The note that is there. A note that another user has made, or that names another file than a part
    /// of this download, does not count: what it leads to would be cut, moved or removed.
    private var content: Content? {
        guard let file = OpenFile(own: url.path),
            let data = try? file.content(upTo: Self.sizeLimit),
            var content = try? JSONDecoder().decode(Content.self, from: Data(data))
        else { return nil }
        let name = URL(fileURLWithPath: content.rest.partialPath).lastPathComponent
        let part = folder.appendingPathComponent(name).path
        guard PartialFile.isName(name, for: self.file), Self.isOwnOrMissing(part) else {
            return nil
        }
        content.rest.partialPath = part
        return content
    }

    private static func isOwnOrMissing(_ path: String) -> Bool {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return errno == ENOENT }
        return isOwn(status)
    }

    /// Whether it is a regular file of this user.
    fileprivate static func isOwn(_ status: stat) -> Bool {
        status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid()
    }

    /// Far more than a URL and the validator of a server need.
    static let sizeLimit = 64 << 10

    /// Notes how a download that begins can go on, even if this call is killed; nil for not at all. The
    /// part of a note that is replaced goes, unless this call writes into it from the beginning.
    func keep(_ data: ResumeData?) {
        let current = own.withLock { own in
            own = data.map(name) ?? own
            return own
        }
        if let old = content?.rest, name(of: old) != current { old.discard() }
        guard let data else { return remove() }
        // A folder in which this fails is reported when the download has failed.
        try? save(data)
    }

    private func name(of data: ResumeData) -> String {
        URL(fileURLWithPath: data.partialPath).lastPathComponent
    }

    /// Writes the note, or says on standard error why the download cannot be resumed.
    func write(_ data: ResumeData) {
        do {
            try save(data)
        } catch {
            guard showsMessages else { return }
            warn("cannot write \(url.path); --resume will start over: \(error)")
        }
    }

    private func save(_ data: ResumeData) throws {
        let bytes = try JSONEncoder().encode(Content(request: request, rest: data))
        try bytes.write(to: url, options: .atomic)
    }

    func remove() {
        try? FileManager.default.removeItem(at: url)
    }

    /// Removes a note of this download whose part is gone.
    func removeIfStale() {
        if let content, content.request == request, content.rest.measured() == nil { remove() }
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
        guard unsafe fstat(descriptor, &status) == 0, ResumeNote.isOwn(status) else { return nil }
    }
}
