internal import HTTPParser
internal import HTTPServerCore

/// One change that a PROPPATCH asks for.
struct PropertyUpdate: Hashable, Sendable {
    var name: XMLName
    /// `nil` when it is to be removed.
    var value: DeadProperty?
    var text: String

    /// The changes of a `DAV:propertyupdate`, in its order (RFC 4918 section 9.2).
    static func all(_ content: XMLElement) throws(WebDAVError) -> [PropertyUpdate] {
        guard content.name == .dav("propertyupdate") else {
            throw WebDAVError(.badRequest, "propertyupdate is expected")
        }
        var updates: [PropertyUpdate] = []
        for step in content.children where step.name == .dav("set") || step.name == .dav("remove") {
            for prop in step.children where prop.name == .dav("prop") {
                let scope = content.declarations + step.declarations + prop.declarations
                let language =
                    prop.languageIfSet ?? step.languageIfSet ?? content.languageIfSet
                for property in prop.children {
                    let xml = property.fragment(scope: scope, language: language)
                    let value = DeadProperty(property.name, xml: xml)
                    updates.append(
                        PropertyUpdate(
                            name: property.name, value: step.name == .dav("set") ? value : nil,
                            text: property.text))
                }
            }
        }
        guard !updates.isEmpty else { throw WebDAVError(.badRequest, "there is nothing to change") }
        return updates
    }

    /// When the resource is to have been changed, for the properties by which clients say so:
    /// rclone and ownCloud set `DAV:lastmodified` to seconds since the epoch, others
    /// `getlastmodified`, and Windows a property of its own, to a date.
    var modified: Int64? {
        guard value != nil else { return nil }
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

    /// Whether the server alone sets it.
    var isRefused: Bool {
        guard name.namespace == "DAV:" else { return false }
        if name == .dav("getlastmodified") || name == .dav("lastmodified") {
            return modified == nil
        }
        return LiveProperty(name)?.isProtected ?? false
    }

    /// Whether it is kept as a property, beside what it does.
    var isKept: Bool { name.namespace != "DAV:" || modified == nil }
}

extension XMLElement {
    /// Its own `xml:lang`.
    package var languageIfSet: String? { attributes.first { $0.name == Self.language }?.value }
}

extension WebDAVHandler {
    /// PROPPATCH (RFC 4918 section 9.2): all changes or none.
    func proppatch(_ call: WebDAVCall) async throws -> Response {
        guard let content = try await call.content() else {
            throw WebDAVError(.badRequest, "propertyupdate is expected")
        }
        let updates = try PropertyUpdate.all(content)
        return try await change([call.path]) {
            guard let info = try await visibleInfo(call.path) else { throw WebDAVError.notFound }
            try await requireConditions(call, info)
            try await requireUnlocked(call.path, andMembership: false, call)
            try await require(.changeProperties(call.path), call)
            guard !updates.contains(where: \.isRefused) else {
                return answer(updates, info, call)
            }
            let changes = updates.filter(\.isKept).map { update in
                update.value.map { PropertyChange.set($0) } ?? .remove(update.name)
            }
            if !changes.isEmpty { try await store.change(changes, of: call.path) }
            if let seconds = updates.compactMap(\.modified).last {
                try await store.setModified(seconds, of: call.path)
            }
            await tell(.changeProperties(call.path), call)
            return answer(updates, info, call)
        }
    }

    private func answer(
        _ updates: [PropertyUpdate], _ info: ResourceInfo, _ call: WebDAVCall
    ) -> Response {
        var seen: Set<XMLName> = []
        let names = updates.filter { seen.insert($0.name).inserted }
        let refused = names.filter(\.isRefused).map(\.name)
        let others = names.filter { !$0.isRefused }.map(\.name)
        return Multistatus.response(call.mount) { all in
            all.start(call.mount.href(call.path, isCollection: info.isCollection))
            if !refused.isEmpty {
                let error = WebDAVError(
                    .forbidden, condition: .cannotModifyProtectedProperty)
                all.propstat(.forbidden, error: error) { writer in
                    for name in refused { writer.empty(name) }
                }
            }
            if !others.isEmpty {
                all.propstat(refused.isEmpty ? .ok : .failedDependency) { writer in
                    for name in others { writer.empty(name) }
                }
            }
            all.end()
        }
    }
}
