import Foundation
import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

/// Text as a literal of JavaScript.
private func literal(_ text: String) -> String {
    let units = text.utf16.map { unit in
        "\\u" + String(repeating: "0", count: 4 - String(unit, radix: 16).count)
            + String(unit, radix: 16)
    }
    return "\"" + units.joined() + "\""
}

/// Text between the tags of a page as a browser prints it.
private func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
}

@Suite(
    "The form examples in a browser", .serialized, .fewAtOnce,
    .enabled(if: FullSuite.isOn, "make test-all"))
struct FormExampleTests {
    /// Opens a page that fills and submits a form; returns the page of the example's response.
    private func submit(_ form: String, _ script: String, to url: String) async throws -> String {
        let folder = try Folder()
        try folder.write(
            """
            <!doctype html><meta charset="utf-8">
            <form id="form" method="post" action="\(url)" \(form)></form>
            <script>const form = document.getElementById("form");
            \(script)
            form.submit();</script>
            """, to: "driver.html")
        return try await Browser().run("--dump-dom", "file://\(folder.path)/driver.html").text
    }

    static let texts = [
        "plain", "Jo & Co + 100% = <b>\"ü\"</b> 'é' 😀", "a=b&value=c;d", "back\\slash/%20%zz",
    ]

    @Test("A value is shown as it was entered", arguments: texts)
    func value(text: String) async throws {
        let example = try await ExampleProcess("FormExample")
        let script = """
            const input = document.createElement("input");
            input.name = "value"; input.value = \(literal(text)); form.append(input);
            """
        let page = try await submit("", script, to: example.url)
        #expect(page.contains("<span id=\"value\">\(escaped(text))</span>"), "\(page)")
    }

    @Test("The pages of both examples have a form")
    func form() async throws {
        for name in ["FormExample", "FileUploadExample"] {
            let example = try await ExampleProcess(name)
            let page = try await Browser().run("--dump-dom", example.url).text
            #expect(page.contains("<form action=\"/\" method=\"post\""), "\(name)")
        }
    }

    @Test("Uploaded files are listed with their names and lengths")
    func files() async throws {
        let example = try await ExampleProcess("FileUploadExample")
        let names = ["plain.txt", "ü \"q\" & <i>.bin", "back\\slash 😀.png", "semi;colon=x.tar.gz"]
        let script = """
            const note = document.createElement("input");
            note.name = "note"; note.value = \(literal(Self.texts[1])); form.append(note);
            const input = document.createElement("input");
            input.type = "file"; input.name = "files"; input.multiple = true; form.append(input);
            const files = new DataTransfer();
            \(names.enumerated().map { index, name in
                "files.items.add(new File([new Uint8Array(\(index * 70_000))], \(literal(name))));"
            }.joined(separator: "\n"))
            input.files = files.files;
            """
        let form = "enctype=\"multipart/form-data\""
        let page = try await submit(form, script, to: example.url)
        #expect(page.contains("<span id=\"note\">\(escaped(Self.texts[1]))</span>"), "\(page)")
        for (index, name) in names.enumerated() {
            let row = "<td>\(escaped(name))</td>"
            #expect(page.contains(row), "\(name)")
            #expect(page.contains("<td>\(index * 70_000)</td>"), "\(name)")
        }
    }
}

@Suite(
    "RFC 7578: Forms that a browser sends", .serialized, .fewAtOnce,
    .enabled(if: FullSuite.isOn, "make test-all"))
struct BrowserFormTests {
    private struct Entry {
        var name: String
        /// The received value; by the URL standard, every line end in a value becomes CRLF.
        var value: [UInt8]
        var fileName: String?
        /// The script that adds the entry to the form.
        var script: String

        static func field(_ name: String, _ value: String, arrives: String? = nil) -> Entry {
            Entry(
                name: name, value: Array((arrives ?? value).utf8),
                script: "form.append(\(literal(name)), \(literal(value)));")
        }

        static func file(_ name: String, _ fileName: String, _ content: [UInt8]) -> Entry {
            let bytes = content.map { "\($0)" }.joined(separator: ",")
            return Entry(
                name: name, value: content, fileName: fileName,
                script: "form.append(\(literal(name)), new File("
                    + "[new Uint8Array([\(bytes)])], \(literal(fileName))));")
        }
    }

    private static let entries: [Entry] = [
        .field("plain", "value"), .field("", "no name"), .field("empty", ""),
        .field("quote\"d", "\"quoted\""), .field("back\\slash", "C:\\new\\"),
        .field("ümläut é", "日本語"), .field("😀", "👩‍👩‍👧"), .field("semi;colon=x", "a=b&c;d"),
        .field("lines", "one\ntwo\r\nthree\r", arrives: "one\r\ntwo\r\nthree\r\n"),
        .field("dashes", "\r\n------WebKitFormBoundary\r\n--"),
        .file("file", "plain.txt", Array("text".utf8)), .file("file", "empty.bin", []),
        .file("quote\"d", "say \"hi\".txt", [0, 13, 10, 45, 45]),
        .file("😀", "back\\slash ü 日本 😀.bin", (0...255).map { UInt8($0) }),
        .file("noise", "semi;colon=x.gz", .noise(5_000, seed: 7)),
    ]

    /// Sends the same form twice, and puts the second response into the page.
    private static let page = """
        <!doctype html><meta charset="utf-8"><pre id="result"></pre><script>
        const form = new FormData();
        \(entries.map(\.script).joined(separator: "\n"))
        for (const path of ["/raw", "/form"]) {
            const request = new XMLHttpRequest();
            request.open("POST", path, false);
            request.send(form);
            document.getElementById("result").textContent = request.status + request.responseText;
        }
        </script>
        """

    private struct Recording: Sendable {
        var mediaType: MediaType?
        var bytes: [UInt8] = []
        var form: UploadedForm?
        var files: [[UInt8]] = []
    }

    /// Has the browser send the form to a server in the test.
    private static func record() async throws -> Recording {
        let recording = Locked(Recording())
        var router = Router()
        router.on(.get, "/") { _ in .html(page) }
        router.on(.post, "/raw") { request in
            let bytes = try await request.body.collect()
            recording.withLock { ($0.mediaType, $0.bytes) = (request.mediaType, bytes) }
            return Response(.ok)
        }
        router.on(.post, "/form") { request in
            let form = try await request.form()
            var files: [[UInt8]] = []
            for file in form.files { files.append(try await file.content()) }
            recording.withLock { [files] in ($0.form, $0.files) = (form, files) }
            return .text("ok")
        }
        let server = HTTPServer(ServerConfiguration(host: "127.0.0.1", port: 0), handler: router)
        try await server.start()
        let port = try #require(server.addresses.first?.port)
        let dump = try await Browser().run("--dump-dom", "http://127.0.0.1:\(port)/").text
        await server.shutdown(grace: .zero)
        try #require(dump.contains("<pre id=\"result\">200ok</pre>"), "\(dump)")
        return recording.withLock { $0 }
    }

    @Test("Every name and every byte of fields and files is received")
    func form() async throws {
        let recording = try await Self.record()
        let form = try #require(recording.form)
        let fields = Self.entries.filter { $0.fileName == nil }
        #expect(form.fields.map(\.name) == fields.map(\.name))
        #expect(
            form.fields.indices.map { Array(form.fields.valueBytes(at: $0)) } == fields.map(\.value)
        )
        let files = Self.entries.filter { $0.fileName != nil }
        #expect(form.files.map(\.name) == files.map(\.name))
        #expect(form.files.map(\.fileName) == files.map(\.fileName))
        #expect(form.files.map(\.size) == files.map { Int64($0.value.count) })
        #expect(recording.files == files.map(\.value))
    }

    /// The parts of some bytes, passed to the parser in pieces.
    private func parts(
        _ bytes: [UInt8], _ mediaType: MediaType, by count: Int
    ) throws -> [(head: PartHead, content: [UInt8])] {
        var parser = try MultipartParser(of: mediaType)
        var parts: [(head: PartHead, content: [UInt8])] = []
        for start in stride(from: 0, to: bytes.count, by: count) {
            parser.append(Array(bytes[start..<min(start + count, bytes.count)]).span)
            while let event = try parser.next() {
                switch event {
                case .part(let head): parts.append((head, []))
                case .content(let piece):
                    for index in piece.indices {
                        parts[parts.count - 1].content.append(piece[index])
                    }
                case .partEnd: break
                case .end: break
                }
            }
        }
        try parser.finish()
        return parts
    }

    @Test("The bytes of the browser are parsed completely at every split")
    func wire() async throws {
        let recording = try await Self.record()
        let type = try #require(recording.mediaType)
        let boundary = try #require(type["boundary"])
        for count in [1, 2, 7, 1_000, recording.bytes.count] {
            let parts = try parts(recording.bytes, type, by: count)
            #expect(parts.map(\.head.name) == Self.entries.map(\.name))
            #expect(parts.map(\.head.fileName) == Self.entries.map(\.fileName))
            #expect(parts.map(\.content) == Self.entries.map(\.value))
            // The parsed parts, joined again, are the sent bytes.
            var again: [UInt8] = []
            for part in parts {
                again += Array("--\(boundary)\r\n".utf8)
                for field in part.head.fields {
                    again += Array("\(field.name): \(field.value)\r\n".utf8)
                }
                again += Array("\r\n".utf8) + part.content + Array("\r\n".utf8)
            }
            again += Array("--\(boundary)--\r\n".utf8)
            #expect(again == recording.bytes)
        }
    }
}
