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
    private let request: URL

    /// - Parameters:
    ///   - file: the path of the download.
    ///   - request: the URL that it is asked for at.
    init(file: String, request: URL) {
        url = URL(fileURLWithPath: file + ".resume")
        self.request = request
    }

    /// The note of an earlier call for the same URL; nil when there is none, or when it cannot be
    /// read.
    func read() -> ResumeData? {
        guard let data = try? Data(contentsOf: url),
            let content = try? JSONDecoder().decode(Content.self, from: data),
            content.request == request
        else { return nil }
        return content.rest
    }

    /// Writes the note, or says on standard error why the download cannot be resumed.
    func write(_ data: ResumeData) {
        do {
            let bytes = try JSONEncoder().encode(Content(request: request, rest: data))
            try bytes.write(to: url, options: .atomic)
        } catch {
            warn("cannot write \(url.path); --resume will start over: \(error)")
        }
    }

    func remove() {
        try? FileManager.default.removeItem(at: url)
    }
}
