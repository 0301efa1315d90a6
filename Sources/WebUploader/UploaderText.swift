/// Markup that the program vouches for: it is put into the page unchanged.
///
/// It must contain no text from clients or other sources. Scripts and styles in it have no effect,
/// because the policy of the page forbids them.
public struct TrustedMarkup: Hashable, Sendable {
    /// The markup.
    public var html: String

    /// Vouches for markup.
    public init(_ html: String) {
        self.html = html
    }
}

/// A text for the page: plain text, which is escaped, or markup that the program vouches for.
///
/// A string literal, with or without interpolations, is text.
public enum UploaderText: Hashable, Sendable {
    /// Plain text, which is escaped.
    case text(String)
    /// Markup, which is put into the page unchanged.
    case markup(TrustedMarkup)

    /// Whether there is nothing to show.
    var isEmpty: Bool {
        switch self {
        case .text(let text): text.isEmpty
        case .markup(let markup): markup.html.isEmpty
        }
    }
}

extension UploaderText: ExpressibleByStringInterpolation {
    /// Text.
    public init(stringLiteral value: String) {
        self = .text(value)
    }
}
