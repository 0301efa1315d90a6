import HTTPCodecs
import HTTPParser
import Testing

/// Forms as browsers write them, copied by hand: each has the same form, with a field named
/// `a"b\c` and a file named `naïve "😀".txt`.
@Suite("HTML: multipart/form-data as browsers send it")
struct MultipartBrowserTests {
    private func events(_ boundary: String, _ text: String) throws -> [String] {
        let type = try #require(MediaType("multipart/form-data; boundary=\(boundary)"))
        let recording = MultipartRecording(boundary: try MultipartBoundary(of: type).text)
        return try recording.eventsOfAllSplits(text)
    }

    private static let form = [
        #"part name=a"b\c"#, #"content 1 \xf0\x9f\x98\x80\r\n2"#, "part end",
        "part name=file file=naïve \"😀\".txt type=text/plain", "content hello\\n", "part end",
        "part name=none file= type=application/octet-stream", "part end", "end",
    ]

    private static func body(
        _ boundary: String, field: String, file: String, end: String = "\r\n"
    ) -> String {
        "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(field)\"\r\n\r\n1 😀\r\n2\r\n"
            + "--\(boundary)\r\nContent-Disposition: form-data; name=\"file\"; "
            + "filename=\"\(file)\"\r\nContent-Type: text/plain\r\n\r\nhello\n\r\n"
            + "--\(boundary)\r\nContent-Disposition: form-data; name=\"none\"; filename=\"\"\r\n"
            + "Content-Type: application/octet-stream\r\n\r\n\r\n--\(boundary)--\(end)"
    }

    // A quote is %22, a backslash stands for itself, other characters are UTF-8. All three browsers
    // follow this rule of the HTML standard, section 4.10.21.8, since 2021.
    @Test(
        "Forms of current browsers are read",
        arguments: [
            "----WebKitFormBoundary7MA4YWxkTrZu0gW",  // Chrome, Edge, Safari
            "----geckoformboundary5d4a9b8c7e6f5a4b3c2d1e0f9a8b7c6d",  // Firefox
            "---------------------------30345362383412512342131534121",  // Firefox up to 2023
        ])
    func today(boundary: String) throws {
        let text = Self.body(boundary, field: #"a%22b\c"#, file: "naïve %22😀%22.txt")
        #expect(try events(boundary, text) == Self.form)
    }

    // Firefox before 2021 put a backslash before quotes.
    @Test("Forms of Firefox before version 90 are read")
    func escapedQuotes() throws {
        let boundary = "---------------------------9051914041544843365972754266"
        let text = Self.body(boundary, field: #"a\"b\c"#, file: #"naïve \"😀\".txt"#)
        #expect(try events(boundary, text) == Self.form)
    }

    // curl escaped quotes and backslashes until 7.81, and does so with --form-escape; it closes
    // with a line end.
    @Test("Forms of curl with --form-escape are read")
    func curl() throws {
        let boundary = "------------------------d74496d66958873e"
        let text = Self.body(boundary, field: #"a\"b\\c"#, file: #"naïve \"😀\".txt"#)
        #expect(try events(boundary, text) == Self.form)
    }

    @Test("An escaped line end in a name is read")
    func lineEnds() throws {
        let text = Sample.part("a%0D%0Ab", "1") + "--b--\r\n"
        let events = MultipartRecording.part("a\r\nb", "1") + ["end"]
        #expect(try MultipartRecording().eventsOfAllSplits(text) == events)
    }

    // Internet Explorer and Edge up to 18 sent the path of the file.
    @Test("A path of Windows keeps its backslashes")
    func windowsPath() throws {
        let text =
            #"--b\#r\#nContent-Disposition: form-data; name="f"; "#
            + #"filename="C:\Users\new\test.txt"\#r\#n\#r\#n1\#r\#n--b--\#r\#n"#
        let events = try MultipartRecording().eventsOfAllSplits(text)
        #expect(events.first == #"part name=f file=C:\Users\new\test.txt"#)
    }

    // fetch() sends this for an empty FormData.
    @Test("A form without fields is read")
    func empty() throws {
        let boundary = "----WebKitFormBoundaryAbCdEfGhIjKlMnOp"
        #expect(try events(boundary, "--\(boundary)--\r\n") == ["end"])
    }

    // XMLHttpRequest in Safari may end without the last line end.
    @Test("A form without a line end after the last boundary is read")
    func noLastLineEnd() throws {
        let text = Self.body("b", field: #"a%22b\c"#, file: "naïve %22😀%22.txt", end: "")
        #expect(try events("b", text) == Self.form)
    }
}
