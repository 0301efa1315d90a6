import HTTPCodecs
import HTTPParser
import TestSupport
import Testing

/// Forms that other programs make during the test.
@Suite("Multipart forms of other programs, and forms that they read")
struct MultipartClientTests {
    /// Bytes of any kind, including line ends and dashes; the same in Swift and in Python.
    private static func content(_ count: Int) -> [UInt8] {
        var state: UInt32 = 1
        return (0..<count).map { _ in
            state = state &* 1_103_515_245 &+ 12_345
            let byte = UInt8(truncatingIfNeeded: state >> 16)
            return byte < 0x40 ? [0x0D, 0x0A, 0x2D, 0x2D][Int(byte & 3)] : byte
        }
    }

    private static let pythonContent = """
        def content(count):
            state, out = 1, bytearray()
            for _ in range(count):
                state = (state * 1103515245 + 12345) & 0xffffffff
                byte = state >> 16 & 255
                out.append(b'\\r\\n--'[byte & 3] if byte < 0x40 else byte)
            return bytes(out)

        """

    /// Runs a script that prints the media type in one line, and then the content.
    private func form(
        _ script: String, _ arguments: [String] = [], having module: String = "sys"
    ) async throws -> (type: String, bytes: [UInt8]) {
        let python = try await Program.python(having: module)
        let result = try await Program.run(
            python, ["-c", Self.pythonContent + script] + arguments,
            environment: ["PYTHONIOENCODING": "utf-8", "LC_ALL": "C.UTF-8"])
        try #require(result.status == 0, "\(result.complaints)")
        let end = try #require(result.output.firstIndex(of: 0x0A))
        let type = String(decoding: result.output[..<end], as: UTF8.self)
        return (type, Array(result.output[(end + 1)...]))
    }

    private func expect(
        _ part: MultipartRecording.Part, name: String?, file: String? = nil,
        type: String? = nil, _ content: [UInt8]
    ) {
        #expect(part.head.name == name)
        #expect(part.head.fileName == file)
        #expect(part.head.mediaType?.description == type)
        #expect(part.content == content)
    }

    /// Runs `curl` with the given arguments, accepts its request, and prints the content.
    private static let curl = """
        import http.server, os, subprocess, sys, tempfile, threading
        class Taker(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.server.type = self.headers['Content-Type']
                self.server.body = self.rfile.read(int(self.headers['Content-Length']))
                self.send_response(204)
                self.end_headers()
            def log_message(self, *arguments): pass
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            for name, size in (('a.txt', 10), ('b.bin', 300000), ('empty', 0)):
                open(name, 'wb').write(content(size))
            server = http.server.HTTPServer(('127.0.0.1', 0), Taker)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            url = 'http://127.0.0.1:%d/' % server.server_address[1]
            subprocess.run(['curl', '-sS', '--noproxy', '*', '-H', 'Expect:'] + sys.argv[1:]
                + [url], check=True)
        sys.stdout.write(server.type + '\\n')
        sys.stdout.flush()
        sys.stdout.buffer.write(server.body)
        """

    @Test("Forms of curl -F are read", arguments: [[], ["--form-escape"]])
    func curl(options: [String]) async throws {
        _ = try Program.find("curl")
        let form = try await form(
            Self.curl,
            options + [
                "-F", "a=1", "-F", "q\"u\\ote é😀=2;type=text/plain",
                "-F", "file=@a.txt", "-F", #"big=@b.bin;filename="naïve \"x\" \\ y.bin";type=a/b"#,
                "-F", "none=@empty;filename=",
            ])
        let parts = try MultipartRecording.parts(form.type, form.bytes)
        try #require(parts.count == 5)
        expect(parts[0], name: "a", Array("1".utf8))
        expect(parts[1], name: "q\"u\\ote é😀", type: "text/plain", Array("2".utf8))
        expect(parts[2], name: "file", file: "a.txt", type: "text/plain", Self.content(10))
        expect(
            parts[3], name: "big", file: "naïve \"x\" \\ y.bin", type: "a/b",
            Self.content(300_000))
        #expect(parts[4].head.name == "none")
        #expect(parts[4].content.isEmpty)
    }

    @Test("Several files of one field are read from the nested multipart of curl")
    func curlNested() async throws {
        _ = try Program.find("curl")
        let form = try await form(
            Self.curl, ["-F", "a=1", "-F", "files=@a.txt,b.bin", "-F", "c=3"])
        let parts = try MultipartRecording.parts(form.type, form.bytes)
        try #require(parts.count == 4)
        expect(parts[1], name: "files", file: "a.txt", type: "text/plain", Self.content(10))
        expect(
            parts[2], name: "files", file: "b.bin", type: "application/octet-stream",
            Self.content(300_000))
        #expect(parts.map(\.head.isNested) == [false, true, true, false])
    }

    @Test(
        "A part that curl encodes as base64 is refused, and one in 8bit is accepted",
        arguments: ["base64", "8bit"])
    func curlEncoder(encoder: String) async throws {
        _ = try Program.find("curl")
        let form = try await form(Self.curl, ["-F", "a=1;encoder=\(encoder)"])
        let isRefused = encoder == "base64"
        do {
            let parts = try MultipartRecording.parts(form.type, form.bytes)
            #expect(!isRefused && parts.count == 1)
        } catch let error as CodecError {
            #expect(isRefused && error.kind == .unsupportedContentCoding)
        }
    }

    private static let fields = """
        data = {'a': '1', 'q"u\\\\ote é😀': 'x\\r\\ny'}
        files = [('file', ('naïve "x".bin', content(100000), 'a/b')), ('none', ('e', b''))]

        """

    private func expectFields(_ form: (type: String, bytes: [UInt8])) throws {
        let parts = try MultipartRecording.parts(form.type, form.bytes)
        try #require(parts.count == 4)
        expect(parts[0], name: "a", Array("1".utf8))
        expect(parts[1], name: "q\"u\\ote é😀", Array("x\r\ny".utf8))
        expect(parts[2], name: "file", file: "naïve \"x\".bin", type: "a/b", Self.content(100_000))
        #expect(parts[3].head.fileName == "e")
        #expect(parts[3].content.isEmpty)
    }

    @Test("Forms of Python requests are read")
    func requests() async throws {
        let script = """
            import requests, sys
            request = requests.Request('POST', 'http://x/', data=data, files=files).prepare()
            sys.stdout.write(request.headers['Content-Type'] + '\\n')
            sys.stdout.flush()
            sys.stdout.buffer.write(request.body)
            """
        try expectFields(try await form(Self.fields + script, having: "requests"))
    }

    @Test("Forms of Python httpx are read")
    func httpx() async throws {
        let script = """
            import httpx, sys
            request = httpx.Request('POST', 'http://x/', data=data, files=files)
            sys.stdout.write(request.headers['Content-Type'] + '\\n')
            sys.stdout.flush()
            sys.stdout.buffer.write(request.read())
            """
        try expectFields(try await form(Self.fields + script, having: "httpx"))
    }

    @Test("FormData of Node.js is read")
    func node() async throws {
        let node = try Program.find("node")
        let script = """
            const form = new FormData()
            form.append('a', '1')
            form.append('q"u\\\\ote é😀', 'x\\r\\ny')
            form.append('file', new Blob(['123'], {type: 'a/b'}), 'naïve "x".bin')
            form.append('none', new Blob([]), 'e')
            const response = new Response(form)
            response.arrayBuffer().then((bytes) => {
                process.stdout.write(response.headers.get('Content-Type') + '\\n')
                process.stdout.write(new Uint8Array(bytes))
            })
            """
        let result = try await Program.run(node, ["-e", script])
        try #require(result.status == 0, "\(result.complaints)")
        let end = try #require(result.output.firstIndex(of: 0x0A))
        let type = String(decoding: result.output[..<end], as: UTF8.self)
        let parts = try MultipartRecording.parts(type, Array(result.output[(end + 1)...]))
        try #require(parts.count == 4)
        expect(parts[0], name: "a", Array("1".utf8))
        expect(parts[1], name: "q\"u\\ote é😀", Array("x\r\ny".utf8))
        expect(parts[2], name: "file", file: "naïve \"x\".bin", type: "a/b", Array("123".utf8))
        #expect(parts[3].head.fileName == "e")
    }

    @Test("Messages of Python's email are read with the parts that Python reads")
    func emailWrites() async throws {
        let script = """
            import email.policy, sys
            from email.message import EmailMessage
            message = EmailMessage(policy=email.policy.SMTP)
            message['Subject'] = 'x'
            message.set_content('text\\nof lines\\n')
            message.add_attachment(content(5000), maintype='a', subtype='b', filename='n.bin')
            message.add_attachment('more', subtype='html', filename='m.html')
            whole = message.as_bytes()
            head, _, body = whole.partition(b'\\r\\n\\r\\n')
            sys.stdout.write(message['Content-Type'] + '\\n')
            sys.stdout.flush()
            parts = list(message.iter_parts())
            own = [part.get_payload().encode() for part in parts]
            sys.stdout.buffer.write(b'%d %d %d\\n' % tuple(len(text) for text in own))
            sys.stdout.buffer.write(b''.join(own) + body)
            """
        let (type, output) = try await form(script)
        let end = try #require(output.firstIndex(of: 0x0A))
        let lengths = String(decoding: output[..<end], as: UTF8.self).split(separator: " ")
            .compactMap { Int($0) }
        let own = Array(output[(end + 1)...])
        let parts = try MultipartRecording.parts(
            type, Array(own[lengths.reduce(0, +)...]))
        try #require(parts.count == 3 && lengths.count == 3)
        // Python writes CRLF where its own text has LF; its last line end may belong to the
        // delimiter.
        var start = 0
        for (part, length) in zip(parts, lengths) {
            let text = String(decoding: own[start..<start + length], as: UTF8.self)
            let lines = text.replacing("\r\n", with: "\n").replacing("\n", with: "\r\n")
            let read = String(decoding: part.content, as: UTF8.self)
            #expect(read == lines || read + "\r\n" == lines)
            start += length
        }
        #expect(parts.map(\.head.fileName) == [nil, "n.bin", "m.html"])
    }

    @Test("Python's email reads the written form")
    func emailReads() async throws {
        var form = MultipartSerializer<Never>()
        let contents = [[], Self.content(1), Self.content(200_000), Array("a\r\n".utf8)]
        for (index, content) in contents.enumerated() {
            try form.append(name: "n\(index)", fileName: "f \(index)", bytes: content)
        }
        let script = """
            import email.policy, sys
            head = b'Content-Type: ' + sys.argv[1].encode() + b'\\r\\n\\r\\n'
            message = email.message_from_bytes(
                head + sys.stdin.buffer.read(), policy=email.policy.HTTP)
            for part in message.iter_parts():
                print(part.get_param('name', header='content-disposition'), part.get_filename(),
                    part.get_content_type(), part.get_payload(decode=True).hex(), sep='|')
            print(message.defects, message.epilogue)
            """
        let python = try await Program.python(having: "email")
        let result = try await Program.run(
            python, ["-c", script, form.mediaType.description], input: form.bytes)
        try #require(result.status == 0, "\(result.complaints)")
        let lines = result.text.split(separator: "\n").map(String.init)
        let expected = contents.enumerated().map { index, content in
            "n\(index)|f \(index)|application/octet-stream|" + Self.hex(content)
        }
        #expect(lines == expected + ["[] "])
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}
