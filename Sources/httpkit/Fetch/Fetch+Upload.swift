import HTTPParser
import URLClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Fetch {
    /// Sends a file, on and on while the server can resume, and prints the answer.
    func send(_ path: String) async throws -> ClientResponse {
        let note = UploadNote(file: path)
        let upload = ResumableUpload(
            request, fromFile: path, in: session, resuming: note.read(for: request.url))
        let (content, response): ([UInt8], ClientResponse)
        do {
            (content, response) = try await upload.finished()
        } catch {
            if let data = upload.resumeData { note.write(data) }
            throw error
        }
        note.remove()
        if output.includesHead { try Self.write(head: response) }
        var bytes = ByteBuffer()
        bytes.append(content)
        try StandardOutput.write(&bytes)
        return response
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

    /// - Parameter file: the path of the file that is sent.
    init(file: String) {
        self.file = file
        url = URL(fileURLWithPath: file + ".resume")
    }

    /// `nil` when it is unknown: then a changed file would look like the old one.
    private var modified: Double? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file)
        return (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970
    }

    /// The note of an earlier call for the same URL and the same file.
    func read(for request: URL) -> UploadResumeData? {
        guard let data = try? Data(contentsOf: url),
            let content = try? JSONDecoder().decode(Content.self, from: data),
            content.rest.url == request, let modified, content.modified == modified
        else { return nil }
        return content.rest
    }

    /// Writes the note, or says on standard error why the upload cannot be resumed.
    func write(_ data: UploadResumeData) {
        guard let modified else { return }
        do {
            let bytes = try JSONEncoder().encode(Content(rest: data, modified: modified))
            try bytes.write(to: url, options: .atomic)
        } catch {
            warn("cannot write \(url.path); the next upload will start over: \(error)")
        }
    }

    func remove() { try? FileManager.default.removeItem(at: url) }
}
