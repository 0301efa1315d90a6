// One of the programs whose lines Docs/ShortPrograms.md counts: those between the marks.

import HTTPServerToolkit

func addNotes(to router: inout Router) {
    // begin
    struct Note: Codable { var text: String }
    router.post("/users/:name/notes", json: Note.self) { request, note in
        try .json(Note(text: "\(request.parameters["name"] ?? ""): \(note.text)"))
    }
    // end
}
