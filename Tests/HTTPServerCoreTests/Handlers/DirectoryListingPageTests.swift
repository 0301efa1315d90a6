import HTTPParser
import HTTPServerCore
import HTTPServerKit
import Testing

@Suite("Directory listing: the page around the entries")
struct DirectoryListingPageTests {
    static let page: String = {
        let entry = DirectoryEntry(
            name: Array("a".utf8), isDirectory: false, size: 1,
            modified: HTTPDate(secondsSinceEpoch: 0))
        let listing = DirectoryListing(path: [Array("b".utf8)], entries: [entry])
        return String(decoding: listing.rendered(as: .html), as: UTF8.self)
    }()

    /// The text of the page between two texts, each of which must occur once.
    static func between(_ start: String, _ end: String) throws -> Substring {
        let starts = page.ranges(of: start)
        let ends = page.ranges(of: end)
        try #require(starts.count == 1 && ends.count == 1)
        return page[starts[0].upperBound..<ends[0].lowerBound]
    }

    @Test(
        "The policy names the page's style and script by their hashes",
        arguments: [
            ("style-src", "<style>", "</style>"), ("script-src", "<script>", "</script>"),
        ])
    func hashes(directive: String, start: String, end: String) throws {
        let content = try Self.between(start, end)
        let hash = TestSHA256.base64(TestSHA256.hash(Array(content.utf8)))
        let policy = DirectoryListing.contentSecurityPolicy
        #expect(policy.contains("\(directive) 'sha256-\(hash)'"))
    }

    @Test("The policy allows nothing by default")
    func policyDefault() {
        #expect(DirectoryListing.contentSecurityPolicy.hasPrefix("default-src 'none'; "))
        #expect(!DirectoryListing.contentSecurityPolicy.contains("unsafe"))
    }

    @Test("The page loads nothing external and has nothing that the policy would block")
    func selfContained() {
        let withoutNamespace = Self.page.replacing("http://www.w3.org/2000/svg", with: "")
        for text in ["http:", "https:", "@import", "url(", " style=", " onclick=", "src="] {
            #expect(!withoutNamespace.contains(text), "\(text)")
        }
    }

    @Test("The page states its encoding early and fits a phone")
    func head() throws {
        let charset = try #require(Self.page.ranges(of: "<meta charset=\"utf-8\">").first)
        #expect(Self.page.utf8.distance(from: Self.page.startIndex, to: charset.upperBound) < 1_024)
        #expect(Self.page.hasPrefix("<!doctype html>\n<html lang=\"en\">"))
        #expect(Self.page.contains("content=\"width=device-width, initial-scale=1\""))
        #expect(Self.page.contains("prefers-color-scheme: dark"))
    }

    @Test("Every icon that the page refers to is defined in it")
    func icons() {
        let references = Self.page.matches(of: /<use href="#([a-z]+)"/).map(\.1)
        #expect(references.count >= 3)
        for reference in references {
            #expect(Self.page.contains("<symbol id=\"\(reference)\""))
        }
    }

    @Test(
        "The tests' SHA-256 agrees with the examples of FIPS 180-4",
        arguments: [
            ("", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
            ("abc", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE="
            ),
        ])
    func sha256(text: String, hash: String) {
        #expect(TestSHA256.base64(TestSHA256.hash(Array(text.utf8))) == hash)
    }
}
