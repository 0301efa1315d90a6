import Foundation
import URLClient

/// The file beside a download that says how to go on with it.
struct ResumeNote {
    private let url: URL

    /// - Parameter file: the path of the download.
    init(file: String) {
        url = URL(fileURLWithPath: file + ".resume")
    }

    /// What an earlier call has left; nil when there is nothing, or nothing that can be read.
    func read() -> ResumeData? {
        guard let data = try? Data(contentsOf: url) else { return nil }
        return try? JSONDecoder().decode(ResumeData.self, from: data)
    }

    func write(_ data: ResumeData) {
        guard let bytes = try? JSONEncoder().encode(data) else { return }
        try? bytes.write(to: url, options: .atomic)
    }

    func remove() {
        try? FileManager.default.removeItem(at: url)
    }
}
