/// A response as a client sees it, read by a minimal parser.
package struct ServerAnswer: Sendable {
    package var status: Int
    package var fields: [(name: String, value: String)]
    package var content: [UInt8]

    package var text: String { String(decoding: content, as: UTF8.self) }

    /// The value of the first field with exactly this name, in upper and lower case.
    package subscript(name: String) -> String? {
        fields.first { $0.name == name }?.value
    }

    /// All final responses in some output; the last one may end with the output.
    /// - Parameter heads: the positions of responses to HEAD.
    package static func all(_ output: [UInt8], heads: Set<Int> = []) -> [ServerAnswer] {
        var answers: [ServerAnswer] = []
        var rest = output[...]
        while let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) {
            var answer = head(rest[..<end.lowerBound])
            rest = rest[end.upperBound...]
            guard answer.status >= 200 else { continue }
            if !heads.contains(answers.count) { answer.take(&rest) }
            answers.append(answer)
        }
        return answers
    }

    private static func head(_ bytes: ArraySlice<UInt8>) -> ServerAnswer {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        let fields = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
            guard let colon = line.firstRange(of: ": ") else { return nil }
            return (String(line[..<colon.lowerBound]), String(line[colon.upperBound...]))
        }
        let status = words.count > 1 ? Int(words[1]) ?? 0 : 0
        return ServerAnswer(status: status, fields: fields, content: [])
    }

    private mutating func take(_ rest: inout ArraySlice<UInt8>) {
        if self["Transfer-Encoding"] == "chunked" { return takeChunks(&rest) }
        if status == 204 || status == 304 { return }
        let count = self["Content-Length"].flatMap { Int($0) } ?? rest.count
        content = Array(rest.prefix(count))
        rest = rest.dropFirst(count)
    }

    private mutating func takeChunks(_ rest: inout ArraySlice<UInt8>) {
        while let end = rest.firstRange(of: [13, 10]) {
            let size = Int(String(decoding: rest[..<end.lowerBound], as: UTF8.self), radix: 16) ?? 0
            rest = rest[end.upperBound...]
            guard size > 0 else { break }
            content += rest.prefix(size)
            rest = rest.dropFirst(size + 2)
        }
        guard let end = rest.firstRange(of: [13, 10]) else { return }
        rest = rest[end.upperBound...]
    }
}
