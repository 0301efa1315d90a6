import Foundation
import TestSupport
import Testing

/// A headless Chromium that opens one page.
struct Browser {
    let program: String

    init() throws {
        #if canImport(Darwin)
            let app = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
            if FileManager.default.isExecutableFile(atPath: app) {
                program = app
                return
            }
        #endif
        program = try Program.find(
            "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    }

    func run(
        _ arguments: String..., environment: [String: String] = [:]
    ) async throws -> Program.Result {
        let profile = try Folder()
        let result = try await Program.run(
            program,
            [
                "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--no-first-run", "--disable-background-networking",
                "--user-data-dir=\(profile.path)", "--virtual-time-budget=10000",
                "--enable-logging=stderr",
            ] + TestTLS.browserFlags + arguments, environment: environment, limit: .seconds(300))
        try #require(result.status == 0, "the browser failed: \(result.complaints)")
        return result
    }
}

@Suite(
    "The directory listing in a browser", .serialized, .fewAtOnce, .overTLSToo,
    .enabled(if: FullSuite.isOn, "make test-all"))
struct BrowserTests {
    /// Parses the listing as a browser does, follows each link, and puts the results as JSON into
    /// the page. The listing allows no other script, so this is a separate page.
    private static let follower = """
        <!doctype html><meta charset="utf-8"><pre id="result"></pre><script>
        function get(url) {
            const request = new XMLHttpRequest();
            request.open("GET", url, false);
            request.setRequestHeader("Accept", "text/html");
            request.send();
            return request;
        }
        const page = new DOMParser().parseFromString(get("/odd/").responseText, "text/html");
        const links = [...page.querySelectorAll("#entries a")].map(link => {
            const url = new URL(link.getAttribute("href"), location.origin + "/odd/");
            const answer = get(url);
            return {name: link.textContent, status: answer.status, content: answer.responseText};
        });
        document.getElementById("result").textContent = encodeURIComponent(JSON.stringify(links));
        </script>
        """

    private struct Followed: Decodable, Hashable {
        var name: String
        var status: Int
        var content: String
    }

    private func server() async throws -> ServeProcess {
        let folder = try Folder()
        for name in OddNames.all { try folder.write("content of \(name)", to: "odd/\(name)") }
        try folder.write(Self.follower, to: "follow.html")
        return try await ServeProcess(folder)
    }

    @Test func everyLinkDownloadsTheFileItNames() async throws {
        let server = try await server()
        let page = try await Browser().run("--dump-dom", server.url("/follow.html")).text
        let result = page.components(separatedBy: "<pre id=\"result\">").last?
            .components(separatedBy: "</pre>").first
        let json = try #require(result?.removingPercentEncoding)
        let links = try JSONDecoder().decode([Followed].self, from: Data(json.utf8))
        let expected = OddNames.all.map {
            Followed(name: $0, status: 200, content: "content of \($0)")
        }
        #expect(Set(links) == Set(expected))
        #expect(links.count == expected.count)
    }

    @Test func theListingIsRenderedWithItsStyleAndScript() async throws {
        let server = try await server()
        let result = try await Browser().run("--dump-dom", server.url("/odd/"))
        for name in OddNames.all {
            let text = name.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
                .replacing(">", with: "&gt;")
            #expect(result.text.contains(">\(text)</span>"), "\(name)")
        }
        // The script has changed the headings to buttons, so the policy does not forbid it.
        #expect(result.text.contains("<button"))
        #expect(!result.complaints.contains("Content Security Policy"))
        #expect(!result.complaints.contains("Uncaught"))
    }

    @Test func theListingCanBeLookedAt() async throws {
        let server = try await server()
        let target = try Folder()
        _ = try await Browser().run(
            "--window-size=390,844", "--screenshot=\(target.file("page.png").path)",
            server.url("/odd/"))
        let image = target.bytes("page.png")
        #expect(image.starts(with: [0x89, 0x50, 0x4E, 0x47]))
        // An empty page of this size takes 3 KB.
        #expect(image.count > 10_000)
    }
}
