internal import HTTPParser

/// Reads a proxy's response to CONNECT, line by line.
struct TunnelHead {
    private var lines: [UInt8] = []
    /// Whether a status line has arrived, but not yet the empty line after its fields.
    private var isOpen = false
    /// The response with which the proxy refused to make the tunnel.
    private(set) var refusal: ClientResponse?

    /// Takes a line, including its line ending.
    /// - Parameters:
    ///   - line: the line.
    ///   - limit: the longest head, in bytes.
    ///   - request: the request that the tunnel is for.
    /// - Throws: `.headTooLong`, `.badResponse`.
    mutating func add(
        _ line: UnsafeRawBufferPointer, limit: Int, for request: @autoclosure () -> ClientRequest
    ) throws(ClientError) {
        guard lines.count + line.count <= limit else {
            throw ClientError(.headTooLong, "more than \(limit) bytes")
        }
        if unsafe ResponseHeadReader.startsHead(line) {
            guard !isOpen else {
                throw ClientError(.badResponse, ResponseHeadReader.secondStatusLine)
            }
            isOpen = true
            lines.removeAll()
        }
        unsafe lines.append(contentsOf: line)
        guard unsafe ResponseHeadReader.isEmpty(line) else { return }
        isOpen = false
        guard let (status, version) = ResponseHeadReader.statusLine(of: lines), status.code >= 300
        else { return }
        refusal = ClientResponse(
            url: request().url, status: status, version: version,
            head: ResponseFields(bytes: lines))
    }
}
