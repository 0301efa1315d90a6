internal import CLibXML2

/// The reason why XML is refused.
package struct XMLFault: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The XML is not well-formed, or its prefixes are not declared.
        case malformed
        /// The XML has a document type, which clients do not need and attackers use.
        case documentType
        /// The XML exceeds one of `XMLLimits`.
        case tooLarge
    }

    package var kind: Kind
}

/// The limits of a request's XML.
package struct XMLLimits: Hashable, Sendable {
    package var bytes = 1 << 20
    package var depth = 64
    package var elements = 10_000
    package var attributes = 64
    package var nameBytes = 1024
    /// The approximate limit of one tag, comment or CDATA section. The library reports nothing
    /// before the end of each, and compares all attributes of a tag in pairs before they can be
    /// counted.
    package var markupBytes = 64 << 10

    package init() {}
}

/// Reads XML by libxml2, of which only characters, syntax and namespaces are used. Document types
/// are refused, so there are only the five entities of XML. No network and no files are used.
///
/// The parser reports events, and parsing ends at the first error.
package enum XMLReader {
    /// The root of a document.
    package static func read(
        _ content: [UInt8], limits: XMLLimits = XMLLimits()
    ) throws(XMLFault) -> XMLElement {
        guard content.count <= limits.bytes else { throw XMLFault(kind: .tooLarge) }
        let builder = XMLBuilder(limits)
        libraryIsReady
        parse(content, into: builder)
        if let fault = builder.fault { throw XMLFault(kind: fault) }
        guard let root = builder.root else { throw XMLFault(kind: .malformed) }
        return root
    }

    /// Initialises the library's tables once, because two threads must not do so at the same time.
    private static let libraryIsReady: Void = xmlInitParser()

    private static func parse(_ content: [UInt8], into builder: XMLBuilder) {
        var handler = unsafe xmlSAXHandler()
        unsafe handler.initialized = UInt32(XML_SAX2_MAGIC)
        unsafe handler.startElementNs = unsafe Self.startElement
        unsafe handler.endElementNs = unsafe Self.endElement
        unsafe handler.characters = unsafe Self.characters
        unsafe handler.cdataBlock = unsafe Self.characters
        unsafe handler.internalSubset = unsafe Self.documentType
        unsafe handler.reference = unsafe Self.reference
        // Otherwise the library would print to standard error.
        unsafe handler.serror = { _, _ in }
        let context = unsafe Unmanaged.passUnretained(builder).toOpaque()
        guard let parser = unsafe xmlCreatePushParserCtxt(&handler, context, nil, 0, nil) else {
            return builder.fail(.malformed)
        }
        defer {
            // The library stores declarations of entities in a document, even in event mode.
            unsafe xmlFreeDoc(parser.pointee.myDoc)
            unsafe xmlFreeParserCtxt(parser)
        }
        _ = unsafe xmlCtxtUseOptions(parser, CInt(XML_PARSE_NONET.rawValue))
        // Parse in pieces, so that an early error ends the work even if much content follows.
        var start = 0
        var (events, silent) = (builder.events, 0)
        while start < content.count, builder.fault == nil {
            let end = min(start + 4096, content.count)
            let status = unsafe content.withUnsafeBytes { bytes in
                let piece = unsafe UnsafeRawBufferPointer(rebasing: bytes[start..<end])
                return unsafe xmlParseChunk(
                    parser, piece.baseAddress?.assumingMemoryBound(to: CChar.self),
                    CInt(piece.count), 0)
            }
            guard status == 0 else { return builder.fail(.malformed) }
            silent = builder.events == events ? silent + end - start : 0
            guard silent <= builder.limits.markupBytes else { return builder.fail(.tooLarge) }
            (start, events) = (end, builder.events)
        }
        guard builder.fault == nil else { return }
        if unsafe xmlParseChunk(parser, nil, 0, 1) != 0 { builder.fail(.malformed) }
    }

    private static let startElement: startElementNsSAX2Func = {
        context, name, prefix, namespace, declared, declarations, count, _, attributes in
        guard let builder = unsafe builder(context) else { return }
        var element = unsafe XMLElement(XMLName(text(name), in: namespaceName(namespace)))
        unsafe element.prefix = text(prefix)
        if let declarations = unsafe declarations {
            for index in 0..<Int(declared) {
                element.declarations.append(
                    unsafe (
                        text(declarations[2 * index]), namespaceName(declarations[2 * index + 1])
                    ))
            }
        }
        guard Int(count) <= builder.limits.attributes, Int(declared) <= builder.limits.attributes
        else { return builder.fail(.tooLarge) }
        if let attributes = unsafe attributes {
            for index in 0..<Int(count) {
                let row = unsafe attributes + 5 * index
                guard let start = unsafe row[3], let end = unsafe row[4] else { continue }
                let value = unsafe UnsafeBufferPointer(start: start, count: end - start)
                unsafe element.attributes.append(
                    XMLElement.Attribute(
                        name: XMLName(text(row[0]), in: namespaceName(row[2])),
                        prefix: text(row[1]), value: attributeText(value)))
            }
        }
        builder.start(element)
    }

    private static let endElement: endElementNsSAX2Func = { context, _, _, _ in
        unsafe builder(context)?.end()
    }

    private static let characters: charactersSAXFunc = { context, start, count in
        guard let builder = unsafe builder(context), let start = unsafe start else { return }
        let bytes = unsafe UnsafeBufferPointer(start: start, count: Int(count))
        unsafe builder.add(bytes)
    }

    private static let documentType: internalSubsetSAXFunc = { context, _, _, _ in
        unsafe builder(context)?.fail(.documentType)
    }

    private static let reference: referenceSAXFunc = { context, _ in
        unsafe builder(context)?.fail(.malformed)
    }

    /// Each ampersand in an attribute arrives as a reference, because the library would build a
    /// tree of it; the same holds in a namespace, which is the value of an attribute.
    private static func attributeText(_ value: UnsafeBufferPointer<UInt8>) -> String {
        guard unsafe value.contains(UInt8(ascii: "&")) else {
            return unsafe String(decoding: value, as: UTF8.self)
        }
        // Byte by byte: in a `String`, a combining character after the reference would hide it.
        let reference = Array("#38;".utf8)
        var (bytes, index) = ([UInt8](), 0)
        bytes.reserveCapacity(value.count)
        while index < value.count {
            let byte = unsafe value[index]
            bytes.append(byte)
            index += 1
            let rest = unsafe value[index...]
            if byte == UInt8(ascii: "&"), unsafe rest.starts(with: reference) {
                index += reference.count
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func namespaceName(_ text: UnsafePointer<UInt8>?) -> String {
        guard let text = unsafe text else { return "" }
        return unsafe attributeText(
            UnsafeBufferPointer(start: text, count: Int(xmlStrlen(text))))
    }

    private static func builder(_ context: UnsafeMutableRawPointer?) -> XMLBuilder? {
        guard let context = unsafe context else { return nil }
        let builder = unsafe Unmanaged<XMLBuilder>.fromOpaque(context).takeUnretainedValue()
        return builder.fault == nil ? builder : nil
    }

    private static func text(_ text: UnsafePointer<UInt8>?) -> String {
        guard let text = unsafe text else { return "" }
        return unsafe String(cString: text)
    }
}

/// Builds elements from events.
private final class XMLBuilder {
    let limits: XMLLimits
    private(set) var root: XMLElement?
    private(set) var fault: XMLFault.Kind?
    private var open: [XMLElement] = []
    /// The number of events that the library has reported.
    private(set) var events = 0
    private var count = 0
    private var text: [UInt8] = []

    init(_ limits: XMLLimits) {
        self.limits = limits
    }

    func fail(_ kind: XMLFault.Kind) {
        if fault == nil { fault = kind }
    }

    func start(_ element: XMLElement) {
        count += 1
        events += 1
        guard count <= limits.elements, open.count < limits.depth,
            element.name.local.utf8.count <= limits.nameBytes,
            element.name.namespace.utf8.count <= limits.nameBytes,
            element.prefix.utf8.count <= limits.nameBytes,
            element.attributes.allSatisfy({ attribute in
                [attribute.name.local, attribute.name.namespace, attribute.prefix]
                    .allSatisfy { $0.utf8.count <= limits.nameBytes }
            }),
            element.declarations.allSatisfy({ prefix, namespace in
                max(prefix.utf8.count, namespace.utf8.count) <= limits.nameBytes
            })
        else { return fail(.tooLarge) }
        // The library accepts an undeclared prefix.
        guard element.name.local.utf8.first(where: { $0 == UInt8(ascii: ":") }) == nil,
            !element.prefix.isEmpty || !element.name.local.isEmpty,
            element.prefix.isEmpty || !element.name.namespace.isEmpty
        else { return fail(.malformed) }
        guard
            element.attributes.allSatisfy({ attribute in
                !attribute.name.local.utf8.contains(UInt8(ascii: ":"))
                    && (attribute.prefix.isEmpty || !attribute.name.namespace.isEmpty)
            })
        else { return fail(.malformed) }
        // Namespaces in XML 1.0 section 2.2: a prefix cannot be bound to an empty name.
        guard !element.declarations.contains(where: { !$0.prefix.isEmpty && $0.namespace.isEmpty })
        else { return fail(.malformed) }
        endText()
        open.append(element)
    }

    func end() {
        events += 1
        endText()
        guard let element = open.popLast() else { return }
        if open.isEmpty {
            root = element
        } else {
            open[open.count - 1].nodes.append(.element(element))
        }
    }

    /// Adds text. It arrives in many small pieces, with each escape in a separate one, and is
    /// joined once.
    func add(_ piece: UnsafeBufferPointer<UInt8>) {
        events += 1
        if !open.isEmpty { unsafe text.append(contentsOf: piece) }
    }

    private func endText() {
        guard !text.isEmpty, let last = open.indices.last else { return }
        open[last].nodes.append(.text(String(decoding: text, as: UTF8.self)))
        text.removeAll(keepingCapacity: true)
    }
}
