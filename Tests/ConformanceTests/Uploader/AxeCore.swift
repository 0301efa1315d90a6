import Foundation
import TestSupport

/// axe-core, which finds accessibility problems of a page.
enum AxeCore {
    /// The script from a package of PyPI; `nil` if it cannot be downloaded.
    static func script(in folder: Folder) async throws -> String? {
        let package = "axe-playwright-python==0.1.8"
        let python = try await Program.python(having: "pip")
        // The certificate of PyPI is from another authority than those of the test's servers.
        let got = try await TestTLS.$current.withValue(nil) {
            try await Program.run(
                python,
                ["-m", "pip", "-q", "download", "--no-deps", "-d", folder.path, package])
        }
        guard got.status == 0 else { return nil }
        let opened = try await Program.run(
            "sh", ["-c", "unzip -oqj *.whl '*/axe.min.js'"], folder: folder.path)
        return opened.status == 0 ? folder.file("axe.min.js").path : nil
    }
}

/// The result of a program that drives a browser with ``ChromeDriver``.
struct BrowserOutcome: Decodable {
    /// The completed steps.
    var steps: [String]
    /// Errors of the console, of scripts and of the policy, and failed checks.
    var faults: [String]
    /// The problems that axe-core has found.
    var violations: [String]

    /// Runs the program on a page.
    static func of(
        _ program: String, _ address: String, _ arguments: [String]
    ) async throws -> BrowserOutcome {
        let result = try await Program.run(
            try Program.find("node"), [program, try Browser().program, address] + arguments,
            environment: [
                "BROWSER_FLAGS": try await TestTLS.browserFlags.joined(separator: " ")
            ], limit: .seconds(600))
        return try JSONDecoder().decode(Self.self, from: Data(result.text.utf8))
    }
}
