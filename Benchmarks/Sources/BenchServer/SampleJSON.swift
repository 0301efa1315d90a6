/// A JSON list of records, identical to the result of `sample_json` in `server.py`.
enum SampleJSON {
    /// The list, padded with spaces to `count` bytes.
    static func bytes(_ count: Int) -> [UInt8] {
        var rows: [String] = []
        var length = 2
        var number = 0
        while true {
            let row = row(number)
            guard length + row.utf8.count + 1 <= count else { break }
            rows.append(row)
            length += row.utf8.count + 1
            number += 1
        }
        let text = "[" + rows.joined(separator: ",") + "]"
        return Array(text.utf8) + [UInt8](repeating: 0x20, count: count - text.utf8.count)
    }

    private static func row(_ number: Int) -> String {
        let (name, score) = (number * 7_919 % 1_000, number * 31_337 % 100_003)
        return """
            {"id":\(number),"name":"user \(name)","mail":"user\(name)@example.org","score":\(score),\
            "active":\(score % 3 == 0),"tags":["group \(score % 17)","level \(name % 5)"]}
            """
    }
}
