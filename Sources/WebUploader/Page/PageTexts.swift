internal import HTTPParser
internal import HTTPServerCore

/// What the page says, in the language that a browser prefers. A language is one more table.
struct PageTexts: Sendable {
    /// The language, as `lang` has it.
    let language: String
    private let texts: [String: String]

    init(for request: Request) {
        self.init(language: Self.language(of: request.fields.list(.acceptLanguage)))
    }

    init(language: String) {
        self.language = language
        texts = Self.tables[language] ?? [:]
    }

    /// A text; English where the language has none.
    subscript(key: String) -> String { texts[key] ?? Self.english[key] ?? key }

    /// What the script of the page says.
    var ofScript: [String: String] {
        var all: [String: String] = [:]
        for key in Self.scriptKeys { all[key] = self[key] }
        return all
    }

    static let tables = ["en": english, "de": german]

    /// The best language that there is a table for, by Accept-Language (RFC 9110 section 12.5.4).
    static func language(of field: String?) -> String {
        var (best, bestWeight) = ("en", 0)
        // Nobody knows more languages.
        for range in (field ?? "").utf8.split(separator: 0x2C).prefix(32) {
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

    /// A weight in thousandths; 0 for what is none.
    private static func weight(_ text: Substring) -> Int {
        if text.hasPrefix("1") { return 1_000 }
        guard text.hasPrefix("0.") else { return 0 }
        let digits = text.dropFirst(2).prefix(3)
        guard digits.utf8.count <= 3 else { return 0 }
        return (Int(digits) ?? 0) * [1_000, 100, 10, 1][digits.utf8.count]
    }

    static let scriptKeys = [
        "rename", "nothing", "loading", "failed", "waiting", "done", "cancelled", "cancel", "retry",
        "keepBoth", "replace", "skip", "exists", "left", "uploads", "deleted", "renamed", "moved",
        "created", "deleteOne", "deleteSeveral", "selected", "offline", "items", "leave", "parent",
        "newName", "select",
    ]

    static let english: [String: String] = [
        "path": "Path", "name": "Name", "size": "Size", "modified": "Modified",
        "upload": "Upload", "files": "Files", "chooseFiles": "Choose files",
        "chooseFolder": "Choose a folder", "conflict": "If a name is taken",
        "keepBoth": "Keep both", "replace": "Replace", "refuse": "Refuse",
        "newFolder": "Name of a new folder", "create": "Create folder", "delete": "Delete",
        "rename": "Rename", "newName": "New name", "move": "Move", "moveTo": "Move to the folder",
        "search": "Search in this folder", "selectAll": "Select all", "select": "Select %",
        "nothing": "There is nothing here.", "parent": "Parent folder", "more": "More",
        "drop": "Drop files or folders here", "transfers": "Uploads", "clear": "Clear finished",
        "loading": "Loading", "failed": "failed", "waiting": "waiting", "done": "done",
        "cancelled": "cancelled", "cancel": "Cancel", "retry": "Retry", "skip": "Skip",
        "exists": "something has that name", "left": "% left",
        "uploads": "Uploads are done: %", "deleted": "Deleted: %", "renamed": "Renamed to %",
        "moved": "Moved: %", "created": "Made the folder %", "deleteOne": "Delete %?",
        "deleteSeveral": "Delete % items?", "selected": "% selected", "items": "% items",
        "offline": "The server does not answer.",
        "leave": "Uploads are still running.", "back": "Back", "error": "That did not work",
        "deleteWarning": "Folders go with all that is inside. This cannot be undone.",
        "uploadOnly": "You can upload files here. They are not shown.",
        "downloadOnly": "You can download files whose address you know.",
        "keys": "Keys: arrows move, Enter opens, Space selects, F2 renames, Delete deletes, "
            + "/ searches, Escape clears the selection.",
    ]

    static let german: [String: String] = [
        "path": "Pfad", "name": "Name", "size": "Größe", "modified": "Geändert",
        "upload": "Hochladen", "files": "Dateien", "chooseFiles": "Dateien wählen",
        "chooseFolder": "Ordner wählen", "conflict": "Wenn ein Name vergeben ist",
        "keepBoth": "Beide behalten", "replace": "Ersetzen", "refuse": "Ablehnen",
        "newFolder": "Name eines neuen Ordners", "create": "Ordner anlegen",
        "delete": "Löschen", "rename": "Umbenennen", "newName": "Neuer Name",
        "move": "Verschieben", "moveTo": "Verschieben in den Ordner",
        "search": "In diesem Ordner suchen", "selectAll": "Alle auswählen",
        "select": "% auswählen", "nothing": "Hier ist nichts.",
        "parent": "Übergeordneter Ordner", "more": "Weitere",
        "drop": "Dateien oder Ordner hier ablegen", "transfers": "Übertragungen",
        "clear": "Fertige entfernen", "loading": "Wird geladen", "failed": "fehlgeschlagen",
        "waiting": "wartet", "done": "fertig", "cancelled": "abgebrochen",
        "cancel": "Abbrechen", "retry": "Wiederholen", "skip": "Überspringen",
        "exists": "der Name ist vergeben", "left": "noch %",
        "uploads": "Hochgeladen: %", "deleted": "Gelöscht: %", "renamed": "Umbenannt in %",
        "moved": "Verschoben: %", "created": "Ordner % angelegt", "deleteOne": "% löschen?",
        "deleteSeveral": "% Einträge löschen?", "selected": "% ausgewählt",
        "items": "% Einträge", "offline": "Der Server antwortet nicht.",
        "leave": "Es wird noch hochgeladen.", "back": "Zurück",
        "error": "Das ging nicht",
        "deleteWarning":
            "Ordner werden mit ihrem ganzen Inhalt gelöscht. Das lässt sich nicht rückgängig machen.",
        "uploadOnly": "Hier können Dateien hochgeladen werden. Sie werden nicht angezeigt.",
        "downloadOnly": "Hier können Dateien heruntergeladen werden, deren Adresse bekannt ist.",
        "keys": "Tasten: Pfeile bewegen, Enter öffnet, Leertaste wählt aus, F2 benennt um, "
            + "Entf löscht, / sucht, Escape hebt die Auswahl auf.",
    ]
}
