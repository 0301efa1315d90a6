// One of the programs whose lines Docs/ShortPrograms.md counts: those between the marks.

import HTTPServerToolkit

// begin
struct Stamp<Inner: Handler>: Handler {
    let inner: Inner
    func answer(_ request: Request) throws -> Answer {
        try inner.answer(request).changing { $0.fields["X-Stamp"] = "1" }
    }
}
// end
