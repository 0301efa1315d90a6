internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore

/// Writes the document of a 207 response, one `response` element after another (RFC 4918 section
/// 13).
///
/// Names of the namespace `DAV:` have the prefix `D`, because some clients expect this prefix.
struct Multistatus: Sendable {
    static let mediaType = "application/xml; charset=utf-8"

    var writer = XMLWriter(reservingCapacity: 4 << 10)
    let mount: Mount

    /// The local name of the document's root element.
    private let root: String

    /// - Parameter root: the local name of the root element, which contains `DAV:response`, or of
    ///   another element that contains `DAV:propstat` directly.
    init(_ mount: Mount, root: String = "multistatus") {
        self.mount = mount
        self.root = root
        writer.markup(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:\(root) xmlns:D=\"DAV:\">")
    }

    /// Ends the document.
    mutating func finish() {
        writer.markup("\n</D:\(root)>\n")
    }

    /// Adds a response with one status for the whole resource.
    mutating func add(_ failure: ResourceFailure, isCollection: Bool = false) {
        start(mount.href(failure.path, isCollection: isCollection))
        status(failure.error.status)
        failure.error.write(to: &writer, mount, declares: false)
        end()
    }

    /// Begins a response with properties.
    mutating func start(_ href: String) {
        writer.markup("\n<D:response><D:href>")
        writer.text(href)
        writer.markup("</D:href>")
    }

    /// Begins the response of a member.
    /// - Parameters:
    ///   - collection: the encoded href of the collection.
    ///   - name: the name of the member.
    ///   - isCollection: whether the member is a collection.
    mutating func start(_ collection: [UInt8], _ name: [UInt8], isCollection: Bool) {
        writer.raw(Self.startBytes)
        writer.raw(collection)
        writer.pathSegment(name)
        if isCollection { writer.raw([0x2F]) }
        writer.raw(Self.hrefEnd)
    }

    mutating func end() {
        writer.raw(Self.endBytes)
    }

    /// Begins the properties that exist; their status is 200.
    mutating func startProperties() {
        writer.raw(Self.propertiesStart)
    }

    mutating func endProperties() {
        writer.raw(Self.propertiesEnd)
    }

    private static let startBytes = Array("\n<D:response><D:href>".utf8)
    private static let hrefEnd = Array("</D:href>".utf8)
    private static let endBytes = Array("</D:response>".utf8)
    private static let propertiesStart = Array("<D:propstat><D:prop>".utf8)
    private static let propertiesEnd = Array(
        "</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>".utf8)

    /// Writes properties that share one status.
    mutating func propstat(
        _ status: HTTPStatus, error: WebDAVError? = nil, _ properties: (inout XMLWriter) -> Void
    ) {
        writer.markup("<D:propstat><D:prop>")
        properties(&writer)
        writer.markup("</D:prop>")
        self.status(status)
        error?.write(to: &writer, mount, declares: false)
        writer.markup("</D:propstat>")
    }

    private mutating func status(_ status: HTTPStatus) {
        // 200 is the most frequent status; the literal saves an interpolation.
        writer.markup(
            status == .ok
                ? "<D:status>HTTP/1.1 200 OK</D:status>"
                : "<D:status>HTTP/1.1 \(status.description)</D:status>")
    }

    /// A 207 response with so few elements that it is built in memory.
    static func response(
        _ mount: Mount, _ body: (inout Multistatus) -> Void
    ) -> Response {
        var all = Multistatus(mount)
        body(&all)
        all.finish()
        return Response(.multiStatus, body: .bytes(all.writer.bytes, mediaType: mediaType))
    }
}

extension XMLWriter {
    /// Writes an empty element with any name.
    mutating func empty(_ name: XMLName) {
        if name.isDAV {
            markup("<D:\(name.local)/>")
        } else if name.namespace.hasBytes(of: XMLElement.language.namespace) {
            // No other prefix may be bound to this namespace (Namespaces in XML section 3).
            markup("<xml:\(name.local)/>")
        } else if name.namespace.isEmpty {
            markup("<\(name.local)/>")
        } else {
            markup("<x:\(name.local) xmlns:x=\"")
            attribute(name.namespace)
            markup("\"/>")
        }
    }
}
