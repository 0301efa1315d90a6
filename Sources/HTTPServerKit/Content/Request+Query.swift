public import HTTPCodecs
internal import HTTPParser
public import HTTPServerCore

extension Request {
    /// The names and values of the target's query, in their order, duplicates kept; empty without
    /// a query. A name without `=` has an empty value, and what is ill-formed means itself, as in
    /// the URL standard.
    ///
    /// It is read each time it is asked for. `FormURLEncoded(query:options:)` reads
    /// `target.query` as strictly as one likes.
    public var query: FormURLEncoded {
        var options = FormURLEncoded.Options.standard
        // The request line has a separate limit.
        (options.byteLimit, options.pairLimit) = (.max, .max)
        return (try? FormURLEncoded(query: target.query, options: options)) ?? FormURLEncoded()
    }

    /// Whether content was announced, by Content-Length or by chunked coding. It may turn out to
    /// be empty, but for an announced length of 0.
    public var hasContent: Bool {
        switch storage.head.framing {
        case .none, .tunnel: false
        case .length(let length): length > 0
        case .chunked, .untilClose: true
        }
    }
}
