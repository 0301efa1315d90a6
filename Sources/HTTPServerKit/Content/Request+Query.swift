public import HTTPCodecs
internal import HTTPParser
public import HTTPServerCore

extension Request {
    /// The names and values of the target's query, in their order, duplicates kept; empty without
    /// a query. As in the URL standard, a name without `=` has an empty value, and an ill-formed
    /// escape stands for its own characters.
    ///
    /// Each access parses the query again. `FormURLEncoded(query:options:)` can parse
    /// `target.query` more strictly.
    public var query: FormURLEncoded {
        var options = FormURLEncoded.Options.standard
        // The limit of the request line bounds the query already.
        (options.byteLimit, options.pairLimit) = (.max, .max)
        return (try? FormURLEncoded(query: target.query, options: options)) ?? FormURLEncoded()
    }

    /// Whether the head announces content, by chunked coding or by a Content-Length above 0.
    /// Chunked content may turn out to be empty.
    public var hasContent: Bool {
        switch storage.head.framing {
        case .none, .tunnel: false
        case .length(let length): length > 0
        case .chunked, .untilClose: true
        }
    }
}
