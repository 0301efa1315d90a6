internal import HTTPParser
public import HTTPServerCore

/// Redirects clients of plain HTTP to the same URL with `https`.
///
/// GET and HEAD get 308. Other methods get 400: their content was already sent in clear text, and a
/// redirect would hide that.
public struct HTTPSRedirectHandler: Handler {
    private let port: UInt16

    /// Creates a handler.
    /// - Parameter port: the port for TLS to which clients connect.
    public init(port: UInt16 = 443) {
        self.port = port
    }

    /// Answers a request immediately.
    public func answer(_ request: Request) throws -> Answer {
        guard request.knownMethod == .get || request.knownMethod == .head else {
            throw HTTPError(
                .badRequest, "this port redirects GET and HEAD to HTTPS, and takes no content")
        }
        guard let host = Self.name(in: request.fields[.host] ?? "") else {
            throw HTTPError(.badRequest, "expected a Host to redirect to")
        }
        let target = request.originalTarget.text
        guard target.first == "/" else {
            throw HTTPError(.badRequest, "expected a path to redirect to")
        }
        let authority = port == 443 ? host : "\(host):\(port)"
        return .now(.redirect(to: "https://\(authority)\(target)", .permanentRedirect))
    }

    /// The host without its port.
    static func name(in host: String) -> String? {
        guard !host.isEmpty else { return nil }
        if host.first == "[" {
            guard let end = host.firstIndex(of: "]") else { return nil }
            return String(host[...end])
        }
        return host.split(separator: ":", omittingEmptySubsequences: false).first.map(String.init)
    }
}
