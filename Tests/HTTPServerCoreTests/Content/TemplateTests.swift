import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("Templates")
struct TemplateTests {
    @Test(
        "Placeholders are replaced, and other text is unchanged",
        arguments: [
            ("", ""), ("plain", "plain"), ("%a%", "1"), ("<%a%%b%>", "<12>"), ("%a%a%", "1a%"),
            ("100%", "100%"), ("100%a%", "1001"), ("%", "%"), ("%%", "%%"), ("%%a%%", "%1%"),
            ("50%; width: 5%;", "50%; width: 5%;"), ("%unknown%a%", "%unknown1"),
            ("%a", "%a"), ("% a%", "% a%"), ("%20%a%", "%201"), ("é%a%é", "é1é"),
            ("%x-y_z.0%", "3"),
        ])
    func filling(text: String, filled: String) {
        let template = Template(text)
        #expect(template.filled(["a": "1", "b": "2", "x-y_z.0": "3"]) == filled)
    }

    @Test("Text is escaped, markup is not, and values are not searched for placeholders")
    func escaping() {
        let template = Template("<a title='%title%'>%title%</a>%list%%again%")
        let filled = template.filled([
            "title": .text("<b>\"Tom\" & 'Jerry'</b>"), "list": .markup("<ul></ul>"),
            "again": "%title%",
        ])
        let text = "&lt;b&gt;&quot;Tom&quot; &amp; &#39;Jerry&#39;&lt;/b&gt;"
        #expect(filled == "<a title='\(text)'>\(text)</a><ul></ul>%title%")
        #expect(template.filled(["list": "<\(1)>"]).hasSuffix("&lt;1&gt;%again%"))
    }

    @Test("A template can be read from a file")
    func file() throws {
        let disk = try ServerDirectory()
        try disk.write("page.html", "<p>%a%</p>")
        #expect(try Template(path: disk.path("page.html")).filled(["a": "&"]) == "<p>&amp;</p>")
        #expect(throws: SystemError.self) { try Template(path: disk.path("none")) }
        #expect(throws: SystemError.self) { try Template(path: disk.path) }
    }

    @Test("A response is rendered from a template and its values")
    func response() async throws {
        let template = Template("<h1>%name%</h1>")
        let client = MemoryConnection(
            SyncHandler { _ in .template(template, ["name": "<Ada>"], status: .accepted) })
        client.send(Sample.get("/"))
        let record = try await client.output("HTTP/1.1 202 ")
        let answer = try #require(ServerAnswer.all(record.output).first)
        #expect(answer["Content-Type"] == "text/html; charset=utf-8")
        #expect(answer.text == "<h1>&lt;Ada&gt;</h1>")
    }
}
