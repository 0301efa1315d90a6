import Foundation
import TestSupport
import Testing

@Suite("The privacy manifest for Apple platforms")
struct PrivacyManifestTests {
    /// `Sources` of this repository.
    private static let sources = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources")
    /// The modules of a server; the lowest one has the manifest for all.
    private static let modules = [
        "ToolkitSystem", "HTTPServerCore", "HTTPServerKit", "HTTPServerAuthentication",
        "HTTPServerAddresses", "HTTPServerDiscovery",
    ]

    /// Functions whose use must be declared, each with its category.
    private static let declared = [
        "stat(": "FileTimestamp", "fstat(": "FileTimestamp", "fstatat(": "FileTimestamp",
        "lstat(": "FileTimestamp", "getattrlist(": "FileTimestamp",
        "statfs(": "DiskSpace", "statvfs(": "DiskSpace", "fstatvfs(": "DiskSpace",
        "mach_absolute_time(": "SystemBootTime", "systemUptime": "SystemBootTime",
        "UserDefaults": "UserDefaults",
    ]

    private func manifest() throws -> [String: Any] {
        let data = try Data(
            contentsOf: Self.sources.appending(path: "ToolkitSystem/PrivacyInfo.xcprivacy"))
        let list = unsafe try PropertyListSerialization.propertyList(from: data, format: nil)
        return try #require(list as? [String: Any])
    }

    @Test("The manifest declares no tracking and no collected data")
    func noTracking() throws {
        let manifest = try manifest()
        #expect(manifest["NSPrivacyTracking"] as? Bool == false)
        #expect((manifest["NSPrivacyTrackingDomains"] as? [Any])?.isEmpty == true)
        #expect((manifest["NSPrivacyCollectedDataTypes"] as? [Any])?.isEmpty == true)
    }

    @Test("The manifest declares exactly the categories that the sources use")
    func accessedAPIs() throws {
        let types = try #require(
            try manifest()["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        let named = types.compactMap { $0["NSPrivacyAccessedAPIType"] as? String }
        var used: Set<String> = []
        for module in Self.modules {
            let files = try #require(
                FileManager.default.enumerator(
                    at: Self.sources.appending(path: module), includingPropertiesForKeys: nil))
            for case let file as URL in files where file.pathExtension == "swift" {
                let text = try String(contentsOf: file, encoding: .utf8)
                for (function, category) in Self.declared where Self.calls(function, in: text) {
                    used.insert("NSPrivacyAccessedAPICategory" + category)
                }
            }
        }
        #expect(used == Set(named))
        for type in types {
            let reasons = type["NSPrivacyAccessedAPITypeReasons"] as? [String]
            #expect(reasons?.isEmpty == false)
        }
    }

    /// Whether a text contains a name that is not the end of another one.
    private static func calls(_ name: String, in text: String) -> Bool {
        text.ranges(of: name).contains { range in
            guard range.lowerBound > text.startIndex else { return true }
            let before = text[text.index(before: range.lowerBound)]
            return !before.isLetter && !before.isNumber && before != "_"
        }
    }
}
