internal import HTTPParser
internal import HTTPServerCore

/// A 207 answer, response by response (RFC 4918 section 13).
///
/// The toolkit's names have the prefix `D`, which some clients take for granted.
struct Multistatus: Sendable {
    static let mediaType = "application/xml; charset=utf-8"

    var writer = XMLWriter(reservingCapacity: 4 << 10)
    let mount: Mount

    /// The name of the document's element.
    private let root: String

    /// - Parameter root: another element that contains `DAV:propstat`.
    init(_ mount: Mount, root: String = "multistatus") {
        self.mount = mount
        self.root = root
        writer.markup(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:\(root) xmlns:D=\"DAV:\">")
    }

    /// The end of the document.
    mutating func finish() {
        writer.markup("\n</D:\(root)>\n")
    }

    /// A response that has one status for the whole resource.
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

    /// Begins the response of a member of a collection, whose href was encoded before.
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

    /// Begins the existing properties.
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

    /// Properties that have one status.
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
        // The most frequent status.
        writer.markup(
            status == .ok
                ? "<D:status>HTTP/1.1 200 OK</D:status>"
                : "<D:status>HTTP/1.1 \(status.description)</D:status>")
    }

    /// The answer with few responses.
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
    /// An element without content of any name.
    mutating func empty(_ name: XMLName) {
        if name.isDAV {
            markup("<D:\(name.local)/>")
        } else if name.namespace.isEmpty {
            markup("<\(name.local)/>")
        } else {
            markup("<x:\(name.local) xmlns:x=\"")
            attribute(name.namespace)
            markup("\"/>")
        }
    }
}
