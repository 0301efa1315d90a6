import HTTPCodecs
import TestSupport
import Testing

@Suite("RFC 9110, 12.5.1: Accept")
struct MediaTypePreferenceTests {
    /// The example of the section.
    static let example = """
        text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed, text/plain;format=fixed;q=0.4, \
        */*;q=0.5
        """

    @Test(
        "The most specific range determines the weight",
        arguments: [
            ("text/plain;format=flowed", 1_000), ("text/plain", 700), ("text/html", 300),
            ("image/jpeg", 500), ("text/plain;format=fixed", 400), ("text/html;level=3", 300),
        ])
    func specificity(type: String, weight: Int) throws {
        let preference = try #require(MediaTypePreference(Self.example))
        #expect(preference.weight(of: try #require(MediaType(type))) == weight)
    }

    @Test(
        "The best of HTML and JSON is selected, with HTML offered first",
        arguments: [
            ("", "text/html"),
            ("*/*", "text/html"),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"),
            ("application/json", "application/json"),
            ("APPLICATION/JSON", "application/json"),
            ("application/json, */*", "application/json"),
            ("application/json, text/plain, */*", "application/json"),
            ("application/*", "application/json"),
            ("text/html, application/json", "text/html"),
            ("text/html;q=0.4, application/json;q=0.5", "application/json"),
            ("text/html;q=0, */*", "application/json"),
            ("application/json;q=0", nil),
            ("application/json; charset=utf-8", "application/json"),
            ("application/json; charset=utf-8; q=0.1, text/*;q=0.05", "application/json"),
            ("application/json; version=2", nil),
            ("text/*; a=b, application/json;q=0.1", "application/json"),
            ("*/*; a=b", nil),
            ("image/png", nil),
        ] as [(String, String?)])
    func best(accept: String, type: String?) {
        #expect(MediaTypePreference(accept)?.best(of: [.html, .json])?.essence == type)
    }

    @Test("A parameter of 200,000 combining marks is read within ten seconds")
    func longParameter() async throws {
        let marks = String(repeating: "\u{301}\u{323}", count: 100_000)
        let isQuick = try await takesLess(than: .seconds(10)) {
            let accept = MediaTypePreference("text/html;charset=\"\(marks)\", */*;q=0.1")
            #expect(accept?.best(of: [.json, .html])?.essence == "application/json")
        }
        #expect(isQuick)
    }

    @Test("A wide range with many parameters is less specific than a narrow range without")
    func manyParameters() throws {
        let many = (0..<100).map { "; p\($0)=v" }.joined()
        let type = try #require(MediaType("text/plain" + many))
        let accept = "*/*\(many), text/*\(many);q=0.2, text/plain;q=0.1"
        #expect(MediaTypePreference(accept)?.weight(of: type) == 100)
    }

    @Test(
        "Invalid lists of media ranges are refused",
        arguments: ["text", "*", "*/html", "text/html;q=2", "text/html text/plain", "*; q=.2"])
    func refusal(accept: String) {
        #expect(MediaTypePreference(accept) == nil)
    }
}
