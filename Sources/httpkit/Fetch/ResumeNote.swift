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

    private let url: URL
    private let folder: URL
    private let request: URL

    /// - Parameters:
    ///   - file: the path of the download.
    ///   - request: the URL that it is asked for at.
    init(file: String, request: URL) {
        let file = URL(fileURLWithPath: file)
        folder = file.deletingLastPathComponent()
        url = folder.appendingPathComponent(file.lastPathComponent + ".resume")
        self.request = request
    }

    /// The note of an earlier call for the same URL, with as many bytes as its part has: that call may
    /// have been killed. Nil when there is none, or when it cannot be read.
    func read() -> ResumeData? {
        guard let content, content.request == request else { return nil }
        return content.rest.measured()
    }

    /// The note that is there. The part is a hidden file beside it: a note that somebody else has made
    /// must not lead to another file.
    private var content: Content? {
        guard let data = try? Data(contentsOf: url),
            var content = try? JSONDecoder().decode(Content.self, from: data)
        else { return nil }
        let name = URL(fileURLWithPath: content.rest.partialPath).lastPathComponent
        guard name.hasPrefix("."), name != ".", name != ".." else { return nil }
        content.rest.partialPath = folder.appendingPathComponent(name).path
        return content
    }

    /// Notes how a download that begins can go on, even if this call is killed; nil for not at all. The
    /// part of a note that is replaced goes.
    func keep(_ data: ResumeData?) {
        if let old = content?.rest, name(of: old) != data.map(name) { old.discard() }
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
