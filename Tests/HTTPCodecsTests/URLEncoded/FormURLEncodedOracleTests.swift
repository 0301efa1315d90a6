import HTTPCodecs
import HTTPParser
import TestSupport
import Testing

/// Compares reading and writing with other programs.
@Suite("URL standard: forms of Python and Node")
struct FormURLEncodedOracleTests {
    private static let count = 400
    private typealias Pairs = [[[UInt8]]]

    /// Reads lines, each a form in ASCII or the word `pairs` and pairs in hexadecimal; prints the
    /// pairs that it reads in a form, in UTF-8, or the form that it makes of the pairs.
    private static let node = """
        const hex = text => Buffer.from(text, 'utf8').toString('hex');
        const text = hex => Buffer.from(hex, 'hex').toString('utf8');
        const lines = require('fs').readFileSync(0, 'latin1').split('\\n').slice(0, -1);
        for (const line of lines) {
            if (line.startsWith('pairs ')) {
                const pairs = line.slice(6).split(',').filter(Boolean)
                    .map(pair => pair.split('=').map(text));
                console.log(new URLSearchParams(pairs).toString());
            } else {
                // A leading `?` would be removed.
                const pairs = [...new URLSearchParams('&' + line)];
                console.log(pairs.map(([n, v]) => hex(n) + '=' + hex(v)).join(','));
            }
        }
        """

    private static let python = """
        import sys
        from urllib.parse import parse_qsl, urlencode
        for line in sys.stdin.buffer.read().decode('ascii').split('\\n')[:-1]:
            if line.startswith('pairs '):
                pairs = [tuple(bytes.fromhex(text).decode() for text in pair.split("="))
                         for pair in line[6:].split(',') if pair]
                print(urlencode(pairs))
            else:
                pairs = parse_qsl(line, keep_blank_values=True)
                print(','.join(n.encode().hex() + '=' + v.encode().hex() for n, v in pairs))
        """

    /// Pieces that matter to the grammar, put together at random. Line ends separate cases.
    private static let atoms: [String] = [
        "a", "b", "name", "&", "&", "=", "=", "+", "%", "%4", "%zz", "%41", "%2B", "%26", "%3D",
        "%25", "%00", "%0A", "%C3%BC", "%C3", "%BC", "%FF", "%F0%9F%8E%88", "%F0%9F", "%ED%A0%80",
        "%ED%B0%80", "%EF%BF%BF", "%EF%BB%BF", "%E0%80%80", "%F4%90%80%80", "%C0%80", "%F8%88",
        ";", "?", "#", "/", "*", "~", "'", "(", " ", "\\\"", "-", "_", ".", "!", "[", "]", "%u0041",
    ]

    private static func forms() -> [String] {
        var random = SeededGenerator(seed: 3)
        return (0..<count).map { _ in
            (0..<Int.random(in: 0...14, using: &random))
                .map { _ in atoms.randomElement(using: &random) ?? "" }.joined()
        }
    }

    private static func texts() -> [[(String, String)]] {
        let scalars: [Unicode.Scalar] = [
            "a", "Z", "0", " ", "+", "%", "&", "=", "\0", "\n", "\r", "~", "*", "-", "_", ".", "!",
            "'", "(", ")", "ü", "€", "🎈", "\u{301}", "\u{FEFF}", "\u{FFFF}", "\u{D7FF}", "\u{E000}",
            "\u{10FFFF}", "\u{7F}", "\u{80}", "\u{FFFD}",
        ]
        var random = SeededGenerator(seed: 4)
        func text() -> String {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                text.append(scalars.randomElement(using: &random) ?? "x")
            }
            return String(text)
        }
        return (0..<count).map { _ in
            (0..<Int.random(in: 0...4, using: &random)).map { _ in (text(), text()) }
        }
    }

    private static func hex(_ text: String) -> String {
        text.utf8.map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined()
    }

    private static func hex(_ form: FormURLEncoded) -> String {
        form.map { "\(hex($0.name))=\(hex($0.value))" }.joined(separator: ",")
    }

    private static func lines(
        _ program: String, _ arguments: [String], _ lines: [String]
    ) async throws -> [Substring] {
        let input = lines.map { $0 + "\n" }.joined()
        let result = try await Program.run(program, arguments, input: Array(input.utf8))
        #expect(result.status == 0, "\(result.complaints)")
        return result.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    }

    private static func answers(of oracle: String, _ lines: [String]) async throws -> [Substring] {
        oracle == "node"
            ? try await self.lines("node", ["-e", node], lines)
            : try await self.lines("python3", ["-c", python], lines)
    }

    @Test(
        "Node and Python read the same pairs in random and written forms",
        arguments: ["node", "python3"])
    func reading(oracle: String) async throws {
        let texts = Self.texts().map { FormURLEncoded($0) }
        let forms = Self.forms() + texts.map(\.description)
        let answers = try await Self.answers(of: oracle, forms)
        try #require(answers.count == forms.count)
        for (form, answer) in zip(forms, answers) {
            #expect(Self.hex(try FormURLEncoded(form)) == answer, "\(form)")
            // Unescaped bytes beyond ASCII have the same meaning.
            let raw = Self.unescaped(form)
            #expect(Self.hex(try FormURLEncoded(raw.span)) == answer, "\(form), raw")
        }
    }

    @Test(
        "Forms that Node and Python write are read as the original pairs",
        arguments: ["node", "python3"])
    func writing(oracle: String) async throws {
        let texts = Self.texts().map { FormURLEncoded($0) }
        let answers = try await Self.answers(of: oracle, texts.map { "pairs " + Self.hex($0) })
        try #require(answers.count == texts.count)
        for (form, answer) in zip(texts, answers) {
            #expect(try FormURLEncoded(String(answer), options: .strict) == form)
            // Python leaves `~` and encodes `*`, as in RFC 3986.
            if oracle == "node" { #expect(form.description == answer) }
        }
    }

    /// Bytes beyond ASCII without their escapes.
    private static func unescaped(_ form: String) -> [UInt8] {
        var bytes = Array(form.utf8)
        var index = 0
        while index + 2 < bytes.count {
            let digits = String(decoding: bytes[(index + 1)...(index + 2)], as: UTF8.self)
            if bytes[index] == 0x25, !digits.contains("+"), let byte = UInt8(digits, radix: 16),
                byte > 0x7F
            {
                bytes.replaceSubrange(index...(index + 2), with: [byte])
            }
            index += 1
        }
        return bytes
    }
}
