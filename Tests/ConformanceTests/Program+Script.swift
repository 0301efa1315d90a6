import Foundation
import TestSupport

extension Program {
    /// The path of one of the project's scripts.
    static func script(_ name: String) -> String {
        URL(filePath: ExampleProcess.folder)
            .deletingLastPathComponent().appending(path: "Scripts/\(name)").path
    }
}
