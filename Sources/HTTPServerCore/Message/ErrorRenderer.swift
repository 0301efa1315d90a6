package import HTTPParser

/// Makes the content of error responses.
///
/// It gets every error that has no body yet: errors that handlers throw, and errors of the router
/// and of the server itself. It makes only the content; status and other fields do not change.
///
/// ```swift
/// configuration.errorRenderer = ErrorRenderer { error, request in
///     .text("\(error.status.code): sorry\n")
/// }
/// ```
public struct ErrorRenderer: Sendable {
    /// Makes the content for an error. The request is `nil` when its head could not be read.
    public typealias Render = @Sendable (HTTPError, Request?) -> ResponseBody

    private let render: Render
    private let variesByAccept: Bool

    /// Creates a renderer.
    /// - Parameter render: makes the content. It must escape values that it takes from the error
    ///   and the request.
    public init(_ render: @escaping Render) {
        self.render = render
        variesByAccept = false
    }

    /// - Parameters:
    ///   - variesByAccept: whether the content depends on Accept.
    ///   - render: makes the content.
    package init(variesByAccept: Bool, _ render: @escaping Render) {
        self.render = render
        self.variesByAccept = variesByAccept
    }

    /// A line of text.
    public static let plainText = ErrorRenderer { error, _ in .text(error.description + "\n") }

    /// The content for an error.
    /// - Parameters:
    ///   - error: the error.
    ///   - request: the request; `nil` when its head could not be read.
    public func body(for error: HTTPError, to request: Request?) -> ResponseBody {
        render(error, request)
    }

    /// An error response with rendered content; any other response is returned unchanged.
    package func rendered(_ response: Response, for request: Request?) -> Response {
        guard var error = response.problem?.error else { return response }
        var response = response
        error.status = response.status
        error.fields = response.fields
        response.body = render(error, request)
        response.fields.remove(.contentType)
        if variesByAccept, request != nil { response.fields.addVary("Accept") }
        return response
    }
}

extension HTTPFields {
    /// Adds a field name to Vary: the response depends on that field (RFC 9110 section 12.5.5).
    package mutating func addVary(_ name: String) {
        guard let vary = self[.vary] else { return append(.vary, name) }
        // The usual case, without parsing.
        if vary == name { return }
        let lines = values(of: .vary)
        let known = lines.flatMap { FieldValues.tokens($0) ?? [] }
        guard !known.contains(where: { $0 == "*" || $0.lowercased() == name.lowercased() }) else {
            return
        }
        if lines.count > 1 || vary.isEmpty { return append(.vary, name) }
        self[.vary] = vary + ", " + name
    }
}
