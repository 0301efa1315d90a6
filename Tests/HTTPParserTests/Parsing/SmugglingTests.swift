import HTTPParser
import TestSupport
import Testing

@Suite("RFC 9112, 11.2: Request smuggling is prevented")
struct SmugglingTests {
    /// Lines that some recipients accept as a transfer coding, and others do not.
    static let codings = [
        "Transfer-Encoding: chunked", "Transfer-Encoding: Chunked", "transfer-encoding:chunked",
        "Transfer-Encoding : chunked", "Transfer-Encoding\t: chunked",
        " Transfer-Encoding: chunked",
        "Transfer-Encoding:\tchunked", "Transfer-Encoding: \u{B}chunked",
        "Transfer-Encoding: chunked\u{B}", "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked, identity", "Transfer-Encoding: identity, chunked",
        "Transfer-Encoding: chunked, chunked", "Transfer-Encoding: cow, chunked",
        "Transfer-Encoding: chunked, cow", "Transfer-Encoding: cow", "Transfer-Encoding:",
        "Transfer-Encoding: \"chunked\"", "Transfer-Encoding: 'chunked'",
        "Transfer-Encoding: chunked;x", "Transfer-Encoding: chunke\u{64}\0",
        "Transfer-Encoding:\r\n chunked", "Transfer-Encoding: \rchunked",
        "X: x\nTransfer-Encoding: chunked", "X: x\rTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nTransfer-encoding: cow",
        "Transfer-Encoding\r\n: chunked", "Transfer\u{2011}Encoding: chunked",
        "Transfer-Encoding: ch\u{A0}unked",
    ]

    /// Contents in which a recipient could see the end of the first request.
    static let contents = [
        "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
        "2c\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\nX: 1234567\r\n\r\n0\r\n\r\n",
    ]

    private func accepted(_ message: String) -> [String] {
        let events = WireSetup().events(Array(message.utf8))
        return events.compactMap { event in
            guard case .request(let head) = event else { return nil }
            return String(decoding: head.startLine, as: UTF8.self)
        }
    }

    @Test(
        "A length together with any kind of transfer coding is refused",
        arguments: codings, contents)
    func bothFramings(coding: String, content: String) {
        for length in ["Content-Length: 4", "content-length:4", "Content-Length: 0"] {
            for fields in ["\(length)\r\n\(coding)", "\(coding)\r\n\(length)"] {
                let head = "POST /first HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n"
                #expect(accepted(head + content) == [])
            }
        }
    }

    @Test("A transfer coding other than chunked is refused, in both versions", arguments: codings)
    func codingAlone(coding: String) {
        let valid = ["transfer-encoding:chunked", "transfer-encoding: chunked"]
        let isChunked = valid.contains(coding.lowercased()) || coding.contains(":\tchunked")
        for version in ["1.1", "1.0"] {
            let head = "POST /first HTTP/\(version)\r\nHost: a\r\n\(coding)\r\n\r\n"
            let requests = accepted(head + "0\r\n\r\n")
            #expect(requests == (isChunked ? ["POST /first HTTP/\(version)"] : []))
        }
    }

    @Test(
        "A length that is not digits is refused, and later bytes are not read as a request",
        arguments: [
            "+5", "-1", "-0", "0x5", "5 5", "5,5", "5, 5", "5;", "5.0", "5e0", "5_0", "", "\"5\"",
            "99999999999999999999", "18446744073709551616", "9223372036854775808", "\u{665}",
            "5\0", "5\u{B}", "\u{C}5", "5\u{A0}", "0005f", "5 ,", "NaN", "Infinity",
        ])
    func lengths(value: String) {
        let next = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
        for space in ["", " ", "\t "] {
            let head = "POST /first HTTP/1.1\r\nHost: a\r\nContent-Length:\(space)\(value)\r\n\r\n"
            #expect(accepted(head + "hello" + next) == [])
        }
    }

    @Test(
        "An invalid chunk size is refused, and later bytes are not read as a request",
        arguments: [
            "", " 1", "1 ", "+1", "-1", "0x1", "1h", "1\n", "1\r", "\r", "1;", "1;\n", "1;a\n",
            "1;a\r", "1;a=\"\n\"", "1;a=\"\r\"", "1 1", "FFFFFFFFFFFFFFFFF", "FFFFFFFFFFFFFFFF",
            "10000000000000001", "00000000000000001", "8000000000000000", "\u{661}", "1\0",
            "1;\u{0}", "1.0", "1,1", "\"1\"",
        ])
    func chunkSizes(size: String) {
        let head = "POST /first HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        let next = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
        let message = head + "\(size)\r\na\r\n0\r\n\r\n" + next
        #expect(accepted(message) == ["POST /first HTTP/1.1"])
        guard case .failure(let error) = WireSetup().events(Array(message.utf8)).last else {
            Issue.record("not refused")
            return
        }
        #expect(error.suggestedStatus == .badRequest)
    }

    @Test(
        "Bytes that other recipients accept as line ends are refused in lines and values",
        arguments: ["\n", "\r", "\n\r", "\r\r\n", "\0", "\u{B}", "\u{C}", "\u{1C}", "\u{7F}"])
    func lineEnds(end: String) {
        let injected = "a\(end)X-Injected: b"
        for message in [
            "GET / HTTP/1.1\r\nHost: a\r\nA: \(injected)\r\n\r\n",
            "GET / HTTP/1.1\(end)Host: a\r\n\r\n",
            "GET /\(end)x HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\(end)\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n\(end)A: b\r\n\r\n",
        ] {
            #expect(accepted(message) == [])
        }
    }

    @Test("NEL and U+2028 are ordinary bytes of a value")
    func unicodeLineEnds() {
        let events = WireSetup().events(
            Array("GET / HTTP/1.1\r\nHost: a\r\nA: b\u{85}c\u{2028}d: e\r\n\r\n".utf8))
        guard case .request(let head) = events.first else {
            Issue.record("refused")
            return
        }
        #expect(head.fields.count == 2)
    }
}
