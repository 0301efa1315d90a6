internal import HTTPParser
internal import HTTPServerCore

extension WebDAVError {
    init(_ fault: XMLFault) {
        switch fault.kind {
        case .malformed: self.init(.badRequest, "the XML is not well-formed")
        case .documentType:
            self.init(
                .badRequest, "document types are not allowed", condition: .noExternalEntities)
        case .tooLarge: self.init(.contentTooLarge, "the XML is too large")
        }
    }

    /// The response to the error: XML if there is a condition, otherwise a line of text.
    func response(_ mount: Mount) -> Response {
        guard condition != nil else { return HTTPError(status, reason).response }
        var writer = XMLWriter()
        writer.markup("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n")
        write(to: &writer, mount, declares: true)
        writer.markup("\n")
        return Response(
            status, body: .bytes(writer.bytes, mediaType: Multistatus.mediaType))
    }

    /// The `DAV:error` element (RFC 4918 section 14.5).
    func write(to writer: inout XMLWriter, _ mount: Mount, declares: Bool) {
        guard let condition else { return }
        writer.markup(declares ? "<D:error xmlns:D=\"DAV:\">" : "<D:error>")
        if resources.isEmpty {
            writer.markup("<D:\(condition.rawValue)/>")
        } else {
            writer.markup("<D:\(condition.rawValue)>")
            for resource in resources {
                writer.element(
                    "D:href",
                    mount.href(resource, isCollection: collections.contains(resource)))
            }
            writer.markup("</D:\(condition.rawValue)>")
        }
        writer.markup("</D:error>")
    }
}
