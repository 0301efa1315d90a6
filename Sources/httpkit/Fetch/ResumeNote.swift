internal import ToolkitSystem
import URLClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The file beside a download that says how to go on with it.
struct ResumeNote {
    private struct Content: Codable {
        /// The URL of the call; redirects may have led elsewhere.
        var request: URL
        var rest: ResumeData
    }

    private let note: NoteFile<Content>
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
        note = NoteFile(besides: path)
        let url = URL(fileURLWithPath: path)
        file = url.lastPathComponent
        folder = url.deletingLastPathComponent()
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

    /// The note that is there. One that names another file than a part of this download does not count:
    /// what it leads to would be cut, moved or removed.
    private var content: Content? {
        guard var content = note.content else { return nil }
        let name = URL(fileURLWithPath: content.rest.partialPath).lastPathComponent
        let part = folder.appendingPathComponent(name).path
        guard PartialFile.isName(name, for: file), NoteFiles.isOwnOrMissing(part) else {
            return nil
        }
        content.rest.partialPath = part
        return content
    }

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

    /// Writes the note, or says on standard error why the download cannot be resumed; its part goes then.
    func write(_ data: ResumeData) {
        do {
            try save(data)
        } catch {
            // On a full disk the note from the beginning is still there, and the part may be longer now.
            if let known = content, known.request == request, name(of: known.rest) == name(of: data)
            {
                return
            }
            data.discard()
            guard showsMessages else { return }
            warn("cannot write \(note.url.path); --resume will start over: \(error)")
        }
    }

    private func save(_ data: ResumeData) throws {
        try note.write(Content(request: request, rest: data))
    }

    func remove() { note.remove() }

    /// Removes a note of this download whose part is gone.
    func removeIfStale() {
        if let content, content.request == request, content.rest.measured() == nil { remove() }
    }
}
