internal import HTTPParser

/// The answer to HTTP without TLS on a port for TLS. No handler sees the request.
struct PlainRequestAnswer {
    /// Whether GET and HEAD are redirected.
    let redirects: Bool

    /// The longest head that is accepted, in bytes; a longer one is refused.
    static let byteLimit = 8 << 10

    /// The answer to a request.
    /// - Parameter bytes: all bytes received so far.
    /// - Returns: the response, empty if the bytes are not HTTP; `nil` if the head is incomplete.
    func answer(to bytes: [UInt8]) -> [UInt8]? {
        guard let first = bytes.first, UInt8(ascii: "A")...UInt8(ascii: "Z") ~= first else {
            return []
        }
        var parser = RequestParser()
        // Cut the bytes, so that a head above the limit never becomes complete.
        parser.append(Array(bytes.prefix(Self.byteLimit)).span)
        do throws(HTTPParseError) {
            while let event = try parser.next() {
                guard case .head(let head) = event else { continue }
                return response(to: head)
            }
        } catch {
            return Self.refusal()
        }
        return bytes.count > Self.byteLimit ? Self.refusal() : nil
    }

    private func response(to head: borrowing RequestHead) -> [UInt8] {
        let isHead = head.method == .head
        guard redirects, isHead || head.method == .get, let host = head.fields[.host],
            !host.isEmpty, head.target.text.first == "/"
        else { return Self.refusal(isHead: isHead) }
        return Self.response(
            .permanentRedirect, [.location: "https://\(host)\(head.target.text)"],
            "This port speaks HTTPS.\n", isHead: isHead)
    }

    private static func refusal(isHead: Bool = false) -> [UInt8] {
        response(
            .badRequest, [:], "This port speaks TLS; use an https URL.\n", isHead: isHead)
    }

    private static func response(
        _ status: HTTPStatus, _ fields: HTTPFields, _ text: String, isHead: Bool
    ) -> [UInt8] {
        var fields = fields
        fields.append(.contentType, "text/plain; charset=utf-8")
        var serializer = ResponseSerializer()
        var bytes = ByteBuffer()
        let content = Array(text.utf8)
        do throws(HTTPMessageError) {
            try serializer.head(
                status, fields: fields, framing: .length(Int64(content.count)),
                to: isHead ? .head : .get, connection: .close, into: &bytes)
            try serializer.content(content.span, into: &bytes)
            try serializer.end(into: &bytes)
        } catch {
            // The Location would not be a valid field value: close without an answer.
            return []
        }
        return unsafe Array(bytes.unsafeBytes)
    }
}
