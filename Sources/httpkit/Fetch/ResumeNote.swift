internal import ToolkitSystem
import URLClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The file next to a download, with the data to resume it.
struct ResumeNote {
    private struct Content: Codable {
        /// The URL of the call, before redirects.
        var request: URL
        var rest: ResumeData
    }

    private let note: NoteFile<Content>
    private let file: String
    private let folder: URL
    private let request: URL
    /// The name of the partial file that this call writes.
    private let own = Locked<String?>(nil)
    private let showsMessages: Bool

    /// - Parameters:
    ///   - file: the path of the download.
    ///   - request: the URL of the call.
    ///   - showsMessages: whether an error in writing the note is reported on standard error.
    init(file path: String, request: URL, showsMessages: Bool = true) {
        note = NoteFile(besides: path)
        let url = URL(fileURLWithPath: path)
        file = url.lastPathComponent
        folder = url.deletingLastPathComponent()
        self.request = request
        self.showsMessages = showsMessages
    }

    /// The note of an earlier call for the same URL, with the present length of the partial file,
    /// because that call may have been killed. Nil if there is no valid note.
    func read() -> ResumeData? {
        guard let content, content.request == request, let data = content.rest.measured() else {
            return nil
        }
        own.withLock { $0 = name(of: data) }
        return data
    }

    /// The existing note. A note that names a file other than a partial file of this download is
    /// ignored, because that file would be truncated, moved or removed.
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

    /// Writes the data to resume a running download, in case this call is killed; `nil` removes the
    /// note. The partial file of a replaced note is removed, unless this call writes it.
    func keep(_ data: ResumeData?) {
        let current = own.withLock { own in
            own = data.map(name) ?? own
            return own
        }
        if let old = content?.rest, name(of: old) != current { old.discard() }
        guard let data else { return remove() }
        // An error is ignored: if the download fails, `write` tries again and reports it.
        try? save(data)
    }

    private func name(of data: ResumeData) -> String {
        URL(fileURLWithPath: data.partialPath).lastPathComponent
    }

    /// Writes the note. If that fails, removes the partial file and reports the error on standard
    /// error.
    func write(_ data: ResumeData) {
        do {
            try save(data)
        } catch {
            // On a full disk the earlier note is still valid, although the partial file may be
            // longer now.
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

    /// Removes a note of this download whose partial file is missing.
    func removeIfStale() {
        if let content, content.request == request, content.rest.measured() == nil { remove() }
    }
}
