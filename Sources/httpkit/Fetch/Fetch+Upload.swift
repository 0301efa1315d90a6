import HTTPParser
internal import ToolkitSystem
import URLClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Fetch {
    /// Sends a file, resumes the upload as often as the server allows, and prints the response.
    func send(_ path: String) async throws -> ClientResponse {
        let note = UploadNote(file: path, showsMessages: output.showsMessages)
        let upload = ResumableUpload(
            request, fromFile: path, in: session, resuming: note.read(for: request.url))
        let progress = showProgress(of: upload)
        let noting = Self.keep(note, of: upload)
        let (content, response): ([UInt8], ClientResponse)
        do {
            (content, response) = try await upload.finished()
        } catch {
            await Self.end(progress)
            await Self.end(noting)
            if let data = upload.resumeData { note.write(data) }
            throw error
        }
        await Self.end(progress)
        await Self.end(noting)
        Self.settle(note, of: upload, after: response)
        if output.includesHead { try Self.write(head: response) }
        var bytes = ByteBuffer()
        bytes.append(content)
        try StandardOutput.write(&bytes)
        if let task = upload.task { showMetrics(task) }
        return response
    }

    /// Removes the note of a finished upload. An error response with `Upload-Complete: ?1` finishes
    /// it, too.
    ///
    /// After other errors the same call can resume the upload later, so its note is written.
    /// Without resume data, an existing note stays, because it is for another URL.
    private static func settle(
        _ note: UploadNote, of upload: ResumableUpload, after response: ClientResponse
    ) {
        if response.status.code < 400 || response.fields["Upload-Complete"] == "?1" {
            note.remove()
        } else if let data = upload.resumeData {
            note.write(data)
        }
    }

    /// Writes the note as soon as the server has named the URL at which the upload can be resumed.
    private static func keep(
        _ note: UploadNote, of upload: ResumableUpload
    ) -> Task<Void, Never> {
        Task {
            var known: UploadResumeData?
            while !Task.isCancelled {
                if let data = upload.resumeData, data != known {
                    note.keep(data)
                    known = data
                }
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    /// Shows the progress of an upload, with a line for each request that sends a part of the file.
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

    /// Ends a watcher once it has shown, or noted, the last state of the upload.
    private static func end(_ watcher: Task<Void, Never>?) async {
        guard let watcher else { return }
        watcher.cancel()
        await watcher.value
    }
}

/// The note next to a file that is being uploaded, with the data to resume the upload.
struct UploadNote {
    private struct Content: Codable {
        var rest: UploadResumeData
        /// When the file was last changed, in seconds since 1970.
        var modified: Double
    }

    private let note: NoteFile<Content>
    private let file: String
    /// The modification time of the file before the upload began; `nil` when that is unknown. The
    /// upload of a file that has changed since then is not resumed.
    private let began: Double?
    private let showsMessages: Bool

    /// - Parameters:
    ///   - file: the path of the file that is sent.
    ///   - showsMessages: whether an error in writing the note is reported on standard error.
    init(file: String, showsMessages: Bool = true) {
        self.file = file
        self.showsMessages = showsMessages
        note = NoteFile(besides: file)
        began = Self.modified(file)
    }

    private static func modified(_ file: String) -> Double? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file)
        return (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970
    }

    /// The note of an earlier call for the same URL and the same, unchanged file.
    func read(for request: URL) -> UploadResumeData? {
        guard let content = note.content, content.rest.url == request,
            let began, content.modified == began,
            Self.isAsSecure(content.rest.upload, as: request)
        else { return nil }
        return content.rest
    }

    /// Whether the upload's URL uses https, unless the request itself uses http.
    private static func isAsSecure(_ upload: URL, as request: URL) -> Bool {
        upload.scheme?.lowercased() == "https" || request.scheme?.lowercased() == "http"
    }

    /// Writes the note while the upload is running, so that it exists if the process is killed.
    func keep(_ data: UploadResumeData) {
        // An error is ignored: if the upload fails, `write` tries again and reports it.
        try? save(data)
    }

    /// Writes the note, or reports on standard error why the upload cannot be resumed.
    func write(_ data: UploadResumeData) {
        do {
            try save(data)
        } catch {
            guard showsMessages else { return }
            warn("cannot write \(note.url.path); the next upload will start over: \(error)")
        }
    }

    private func save(_ data: UploadResumeData) throws {
        guard let began else { return }
        try note.write(Content(rest: data, modified: began))
    }

    func remove() { note.remove() }
}
