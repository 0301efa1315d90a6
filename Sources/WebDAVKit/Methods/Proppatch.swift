internal import HTTPParser
internal import HTTPServerCore
internal import Logging
internal import ToolkitSystem

/// One change that a PROPPATCH asks for.
struct PropertyUpdate: Hashable, Sendable {
    var name: XMLName
    /// The new value; `nil` to remove the property.
    var value: DeadProperty?
    /// The text of the property element.
    var text: String
    /// The names of the child elements.
    var children: [XMLName]

    /// Whether a `DAV:resourcetype` is a plain collection.
    var isPlainCollection: Bool { children == [.dav("collection")] }

    /// The changes of a `DAV:propertyupdate`, in its order (RFC 4918 section 9.2).
    /// - Parameter root: the name of the element that contains the changes.
    static func all(
        _ content: XMLElement, root: String = "propertyupdate"
    ) throws(WebDAVError) -> [PropertyUpdate] {
        guard content.name == .dav(root) else {
            throw WebDAVError(.badRequest, "expected the element \(root)")
        }
        var updates: [PropertyUpdate] = []
        // Counted, because each value repeats the declarations of the prefixes that it may use.
        var bytes = 0
        let outer = NamespaceScope(content.declarations)
        for step in content.children where step.name == .dav("set") || step.name == .dav("remove") {
            let middle = outer.inside(step.declarations)
            for prop in step.children where prop.name == .dav("prop") {
                let scope = middle.inside(prop.declarations)
                let language =
                    prop.languageIfSet ?? step.languageIfSet ?? content.languageIfSet
                for property in prop.children {
                    var value: DeadProperty?
                    if step.name == .dav("set") {
                        let xml = property.fragment(scope: scope, language: language)
                        bytes += xml.utf8.count
                        guard bytes <= 4 * PropertyFile.byteLimit else {
                            throw WebDAVError(.insufficientStorage, "too many properties")
                        }
                        value = DeadProperty(property.name, xml: xml)
                    }
                    updates.append(
                        PropertyUpdate(
                            name: property.name, value: value,
                            text: property.text, children: property.children.map(\.name)))
                }
            }
        }
        guard !updates.isEmpty else {
            throw WebDAVError(.badRequest, "the request changes no property")
        }
        return updates
    }

    /// The modification time that a client sets, in seconds since the epoch. rclone and ownCloud
    /// set `DAV:lastmodified` to such seconds. Other clients set `getlastmodified` to a date, and
    /// Windows a property in Microsoft's namespace.
    var modified: Int64? {
        // No number or date is longer.
        guard value != nil, text.utf8.count <= 64 else { return nil }
        switch name {
        case .dav("lastmodified"): return FieldValues.parseDecimal(text)
        case .dav("getlastmodified"), Self.windowsTime:
            let now = HTTPDate(secondsSinceEpoch: Syscalls.realtime().seconds)
            return HTTPDate(text, now: now)?.secondsSinceEpoch
        default: return nil
        }
    }

    private static let windowsTime = XMLName(
        "Win32LastModifiedTime", in: "urn:schemas-microsoft-com:")

    /// Whether only the server may change the property, or no valid time is set.
    var isRefused: Bool {
        if name == .dav("getlastmodified") || name == .dav("lastmodified") {
            return modified == nil
        }
        return LiveProperty(name)?.isProtected ?? false
    }

    /// Whether the change is stored as a dead property, maybe in addition to setting the time.
    var isKept: Bool { !name.isDAV || modified == nil }
}

extension XMLElement {
    /// The attribute `xml:lang` of this element.
    package var languageIfSet: String? { attributes.first { $0.name == Self.language }?.value }
}

/// The changes of a PROPPATCH that cannot be made, and the reason. Then none is made.
struct PropertyRefusal: Hashable, Sendable {
    var names: Set<XMLName>
    var error: WebDAVError

    init(_ updates: [PropertyUpdate], _ error: WebDAVError) {
        names = Set(updates.map(\.name))
        self.error = error
    }
}

extension WebDAVHandler {
    /// PROPPATCH (RFC 4918 section 9.2): all changes or none.
    func proppatch(_ call: WebDAVCall) async throws -> Response {
        guard let content = try await call.content() else {
            throw WebDAVError(.badRequest, "expected the element propertyupdate")
        }
        let updates = try PropertyUpdate.all(content)
        return try await change([call.path], call) {
            guard let info = try await visibleInfo(call.path) else { throw WebDAVError.notFound }
            try await requireConditions(call, info)
            try await requireUnlocked(call.path, andMembership: false, call)
            try await require(.changeProperties(call.path), call)
            let refused = updates.filter(\.isRefused)
            let refusal =
                refused.isEmpty
                ? try await apply(updates, info, call)
                : PropertyRefusal(
                    refused, WebDAVError(.forbidden, condition: .cannotModifyProtectedProperty))
            guard refusal == nil else { return answer(updates, refusal, info, call) }
            await tell(.changeProperties(call.path), call)
            return done(updates, info, call)
        }
    }

    /// PROPPATCH of dead properties only, without waiting.
    func proppatchNow(
        _ content: [UInt8], _ call: WebDAVCall, _ access: ImmediateAccess
    ) throws -> Response? {
        guard !content.isEmpty else { return nil }
        let updates = try PropertyUpdate.all(try XMLReader.read(content))
        guard updates.allSatisfy({ !$0.isRefused && $0.modified == nil }),
            let info = try visibleInfoNow(call.path, access),
            access.isUnlocked(call.path, isNew: false),
            try access.store.changeNow(Self.changes(updates), of: call.path)
        else { return nil }
        return done(updates, info, call)
    }

    private static func changes(_ updates: [PropertyUpdate]) -> [PropertyChange] {
        updates.map { update in
            update.value.map { PropertyChange.set($0) } ?? .remove(update.name)
        }
    }

    /// The answer to changes that were all made.
    private func done(
        _ updates: [PropertyUpdate], _ info: ResourceInfo, _ call: WebDAVCall
    ) -> Response {
        // RFC 8144 section 2.2.
        if call.prefersMinimal {
            return Response(.ok, fields: WebDAVCall.minimalFields, body: .bytes([]))
        }
        return answer(updates, nil, info, call)
    }

    /// Makes all changes, or none.
    /// - Returns: the changes that cannot be made; `nil` if all were made.
    func apply(
        _ updates: [PropertyUpdate], _ info: ResourceInfo, _ call: WebDAVCall
    ) async throws -> PropertyRefusal? {
        let time = updates.compactMap(\.modified).last
        // Set the time first: a store may refuse it, and it can be set back.
        if let time,
            let error = try await refusal({
                try await store.setModified(time, of: call.path)
            })
        {
            // A property that Windows sets is stored as a dead property, too.
            let times = updates.filter { $0.modified != nil && !$0.isKept }
            guard times.isEmpty else { return PropertyRefusal(times, error) }
        }
        let kept = updates.filter(\.isKept)
        guard !kept.isEmpty else { return nil }
        do {
            let error = try await refusal {
                try await store.change(Self.changes(kept), of: call.path)
            }
            guard let error else { return nil }
            await setBack(time, info, call)
            return PropertyRefusal(kept, error)
        } catch {
            await setBack(time, info, call)
            throw error
        }
    }

    /// Runs `body`.
    /// - Returns: an error that concerns single properties: the store refuses them, or has no space
    ///   for them (RFC 4918 section 9.2.1).
    /// - Throws: other errors, which are answered for the request as a whole.
    private func refusal(_ body: () async throws -> Void) async throws -> WebDAVError? {
        do {
            try await body()
            return nil
        } catch let error as WebDAVError
            where error.status == .forbidden || error.status == .insufficientStorage
        {
            return error
        }
    }

    private func setBack(_ time: Int64?, _ info: ResourceInfo, _ call: WebDAVCall) async {
        guard time != nil else { return }
        do {
            try await store.setModified(info.modified, of: call.path)
        } catch {
            call.request.logger.error(
                "the modification time could not be set back after a refused change",
                metadata: ["error": "\(error)"])
        }
    }

    private func answer(
        _ updates: [PropertyUpdate], _ refusal: PropertyRefusal?, _ info: ResourceInfo,
        _ call: WebDAVCall
    ) -> Response {
        Multistatus.response(call.mount) { all in
            all.start(call.mount.href(call.path, isCollection: info.isCollection))
            all.propstats(updates, refusal)
            all.end()
        }
    }
}

extension Multistatus {
    /// The result of each change: all were made, or none.
    mutating func propstats(_ updates: [PropertyUpdate], _ refusal: PropertyRefusal?) {
        var seen: Set<XMLName> = []
        let names = updates.map(\.name).filter { seen.insert($0).inserted }
        let refused = names.filter { refusal?.names.contains($0) ?? false }
        let others = names.filter { !(refusal?.names.contains($0) ?? false) }
        if let error = refusal?.error {
            propstat(error.status, error: error) { writer in
                for name in refused { writer.empty(name) }
            }
        }
        guard !others.isEmpty else { return }
        propstat(refused.isEmpty ? .ok : .failedDependency) { writer in
            for name in others { writer.empty(name) }
        }
    }
}
