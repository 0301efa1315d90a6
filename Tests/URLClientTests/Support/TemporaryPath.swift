import Foundation
import TestSupport

/// A name for a file or a folder, which is removed with its contents when this object is released.
final class TemporaryPath: Sendable {
    let text: String

    init() {
        text = TestFolder.name("urlclient-")
    }

    deinit { TestFolder.remove(text) }

    func write(_ content: String, to name: String? = nil) {
        let path = name.map { "\(text)/\($0)" } ?? text
        _ = FileManager.default.createFile(atPath: path, contents: Data(content.utf8))
    }

    func remove(_ name: String) {
        try? FileManager.default.removeItem(atPath: "\(text)/\(name)")
    }

    var content: String? {
        FileManager.default.contents(atPath: text).map { String(decoding: $0, as: UTF8.self) }
    }

    var permissions: Int? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: text)
        return (attributes?[.posixPermissions] as? NSNumber)?.intValue
    }

    /// The names of the folder's entries.
    var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: text).sorted()) ?? []
    }
}
