internal import HTTPParser
internal import HTTPServerCore

/// The texts of the page, in the language that a browser prefers. Each language has a table.
package struct PageTexts: Sendable {
    // The tables are in `PageTexts+Tables.swift` and `PageTexts+MoreTables.swift`; a test checks
    // that each has all keys.

    /// The language, as a value of the HTML attribute `lang`.
    let language: String
    private let texts: [String: String]

    init(for request: Request) {
        self.init(language: Self.language(of: request.fields.list(.acceptLanguage)))
    }

    init(language: String) {
        self.language = language
        texts = Self.tables[language] ?? [:]
    }

    /// A text; in English if the language's table lacks it.
    subscript(key: String) -> String { texts[key] ?? Self.english[key] ?? key }

    /// The texts of the page's script.
    var ofScript: [String: String] {
        var all: [String: String] = [:]
        for key in Self.scriptKeys { all[key] = self[key] }
        return all
    }

    package static let tables = [
        "de": german, "en": english, "es": spanish, "fr": french, "ja": japanese, "zh": chinese,
    ]

    /// The client's favourite of the available languages, by Accept-Language (RFC 9110 section
    /// 12.5.4).
    static func language(of field: String?) -> String {
        var (best, bestWeight) = ("en", 0)
        // No browser sends more languages.
        for range in (field ?? "").utf8.split(separator: 0x2C).prefix(32) where range.count <= 64 {
            let parts = range.split(separator: 0x3B).map { part in
                String(decoding: part.filter { $0 > 0x20 }, as: UTF8.self).lowercased()
            }
            let name = String((parts.first ?? "").prefix { $0 != "-" })
            let weight =
                parts.dropFirst().first { $0.hasPrefix("q=") }
                .map { Self.weight($0.dropFirst(2)) } ?? 1_000
            if weight > bestWeight, tables[name] != nil { (best, bestWeight) = (name, weight) }
        }
        return best
    }

    /// A weight in thousandths; 0 if it is malformed.
    private static func weight(_ text: Substring) -> Int {
        if text.hasPrefix("1") { return 1_000 }
        guard text.hasPrefix("0.") else { return 0 }
        let digits = text.dropFirst(2).prefix(3)
        guard digits.utf8.count <= 3 else { return 0 }
        return (Int(digits) ?? 0) * [1_000, 100, 10, 1][digits.utf8.count]
    }

    static let scriptKeys = [
        "cancel", "cancelled", "created", "cut", "deleteOne", "deleteSeveral", "deleted", "done",
        "exists", "failed", "fileType", "full", "gone", "hidden", "items", "keepBoth", "leave",
        "left", "loading", "locked", "moved", "newName", "noPreview", "notAllowed", "nothing",
        "offline", "parent", "rename", "renamed", "replace", "restored", "retry", "select",
        "selected", "skip", "tooLong", "uploads", "waiting", "deleteForGood", "pause", "paused",
        "continue", "interrupted", "chooseAgain", "discard", "otherFile", "retrying", "unreadable",
        "ask", "askQuestion", "overLimit", "error",
    ]
}
