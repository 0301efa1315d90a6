import Foundation
import HTTPParser
import TestSupport
import Testing

/// Names that need escaping in a page, in a link, or in both.
enum OddNames {
    static let all = [
        "a&b <i>.txt", "50%.txt", "ü ñ.txt", "#1?.txt", "\"quoted\".txt", "it's.txt", "a:b.txt",
        "%2e%2e.txt", "back\\slash.txt", "semi;colon.txt", "plus+plus.txt", "日本語.txt",
    ]

    /// A folder of files with these names; each contains its name.
    static func folder() throws -> Folder {
        let folder = try Folder()
        for name in all { try folder.write("content of \(name)", to: name) }
        return folder
    }
}

@Suite("Directory listings: targets of links", .fewAtOnce, .overTLSToo)
struct ListingTests {
    /// The targets of the links to entries, with HTML character references decoded.
    private func links(_ page: String) -> [String] {
        let rows = page.components(separatedBy: "<tbody id=\"entries\">").last ?? ""
        return rows.components(separatedBy: "<a href=\"").dropFirst().map { rest in
            var link = String(rest.prefix { $0 != "\"" })
            for (reference, text) in [("&lt;", "<"), ("&gt;", ">"), ("&#39;", "'"), ("&amp;", "&")]
            {
                link = link.replacingOccurrences(of: reference, with: text)
            }
            return link
        }
    }

    @Test func everyLinkLeadsToItsFile() async throws {
        let server = try await ServeProcess(try OddNames.folder())
        let page = try await server.get("/", [.accept: "text/html"]).text
        let links = links(page)
        #expect(links.count == OddNames.all.count)
        var found: Set<String> = []
        for link in links {
            let path = link.hasPrefix("./") ? String(link.dropFirst(2)) : link
            let result = try await server.get("/" + path)
            #expect(result.status == .ok, "\(link)")
            found.insert(result.text)
        }
        #expect(found == Set(OddNames.all.map { "content of \($0)" }))
    }

    @Test func theJSONListingHasAllNames() async throws {
        struct Entry: Decodable {
            var name: String
            var href: String
        }
        let server = try await ServeProcess(try OddNames.folder())
        let result = try await server.get("/", [.accept: "application/json"])
        let entries = try JSONDecoder().decode([Entry].self, from: Data(result.content))
        #expect(Set(entries.map(\.name)) == Set(OddNames.all))
        for entry in entries {
            let path = entry.href.hasPrefix("./") ? String(entry.href.dropFirst(2)) : entry.href
            #expect(
                try await server.get("/" + path).text == "content of \(entry.name)")
        }
    }

    @Test(arguments: [
        "/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/%252e%252e/secret.txt",
        "/..%5csecret.txt", "/a/../../secret.txt", "/link/secret.txt", "/secret-link",
        "/f.txt%00", "/./../secret.txt", "//secret.txt",
    ])
    func nothingLeadsOutOfTheDirectory(_ path: String) async throws {
        let outside = try Folder()
        try outside.write("secret", to: "secret.txt")
        try outside.write("public", to: "root/f.txt")
        let files = FileManager.default
        try files.createSymbolicLink(
            at: outside.file("root/link"), withDestinationURL: outside.url)
        try files.createSymbolicLink(
            at: outside.file("root/secret-link"),
            withDestinationURL: outside.file("secret.txt"))
        let root = try Folder()
        try files.moveItem(at: outside.file("root"), to: root.file("root"))
        try root.write("secret", to: "secret.txt")
        let server = try await ServeProcess(path: root.file("root").path)
        let result = try await server.get(path)
        // The targets of the links must exist until here.
        withExtendedLifetime((outside, root)) {}
        #expect(result.status.class == .clientError)
        #expect(!result.text.contains("secret\n") && !result.text.hasSuffix("secret"))
    }

    @Test func aDirectoryWithoutItsSlashIsRedirected() async throws {
        let folder = try Folder()
        try folder.write("x", to: "a b/f.txt")
        let server = try await ServeProcess(folder)
        let answer = try await server.send(.head, "/a%20b?q=1")
        #expect(answer.status == .movedPermanently && answer.fields[.location] == "/a%20b/?q=1")
        // The redirect must not lead to another host.
        let other = try await server.send(.head, "//a%20b")
        #expect(other.fields[.location]?.hasPrefix("//") != true)
    }
}
