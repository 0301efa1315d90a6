import HTTPParser
internal import ToolkitSystem
import URLClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Fetch {
    /// Sends a file, on and on while the server can resume, and prints the answer.
    func send(_ path: String) async throws -> ClientResponse {
        let note = UploadNote(file: path, showsMessages: output.showsMessages)
        let upload = ResumableUpload(
            request, fromFile: path, in: session, resuming: note.read(for: request.url))
        let progress = showProgress(of: upload)
        let (content, response): ([UInt8], ClientResponse)
        do {
            (content, response) = try await upload.finished()
        } catch {
            await Self.end(progress)
            if let data = upload.resumeData { note.write(data) }
            throw error
        }
        await Self.end(progress)
        note.remove()
        if output.includesHead { try Self.write(head: response) }
        var bytes = ByteBuffer()
        bytes.append(content)
        try StandardOutput.write(&bytes)
        if let task = upload.task { showMetrics(task) }
        return response
    }

    /// Shows how far an upload is, with a line for each request that sends a part of the file.
    private func showProgress(of upload: ResumableUpload) -> Task<Void, Never>? {
        guard showsProgress else { return nil }
        return Task {
            var shown: UploadTask?
            while true {
                if let task = upload.task, task !== shown {
                    shown = task
                    await ProgressDisplay(task).end()
                } else if Task.isCancelled {
                    return
                } else {
                    try? await Task.sleep(for: .milliseconds(50))
                }
            }
        }
    }

    /// Waits until the last state is shown, once the upload is over.
    private static func end(_ progress: Task<Void, Never>?) async {
        guard let progress else { return }
        progress.cancel()
        await progress.value
    }
}

/// The file beside one that is sent, which says how to go on with it.
struct UploadNote {
    private struct Content: Codable {
        var rest: UploadResumeData
        /// When the file was last changed, in seconds since 1970.
        var modified: Double
    }

    private let file: String
    private let url: URL
    private let showsMessages: Bool

    /// - Parameters:
    ///   - file: the path of the file that is sent.
    ///   - showsMessages: whether standard error says why it cannot be written.
    init(file: String, showsMessages: Bool = true) {
        self.file = file
        self.showsMessages = showsMessages
        url = URL(fileURLWithPath: file + ".resume")
    }

    /// `nil` when it is unknown: then a changed file would look like the old one.
    private var modified: Double? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file)
        return (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970
    }

    /// The note of an earlier call for the same URL and the same file. A note that another user has
    /// made does not count, because it could have the file sent elsewhere.
    func read(for request: URL) -> UploadResumeData? {
        guard let note = OpenFile(own: url.path),
            let data = try? note.content(upTo: ResumeNote.sizeLimit),
            let content = try? JSONDecoder().decode(Content.self, from: Data(data)),
            content.rest.url == request, let modified, content.modified == modified,
            Self.isAsSecure(content.rest.upload, as: request)
        else { return nil }
        return content.rest
    }

    /// Whether the rest of a file goes over TLS if its beginning did.
    private static func isAsSecure(_ upload: URL, as request: URL) -> Bool {
        upload.scheme?.lowercased() == "https" || request.scheme?.lowercased() == "http"
    }

    /// Writes the note, or says on standard error why the upload cannot be resumed.
    func write(_ data: UploadResumeData) {
        guard let modified else { return }
        do {
            let bytes = try JSONEncoder().encode(Content(rest: data, modified: modified))
            try bytes.write(to: url, options: .atomic)
        } catch {
            guard showsMessages else { return }
            warn("cannot write \(url.path); the next upload will start over: \(error)")
        }
    }

    func remove() { try? FileManager.default.removeItem(at: url) }
}
