internal import HTTPParser
internal import HTTPServerCore

/// The protocol that a client speaks.
enum UploadDialect: Hashable, Sendable {
    /// Resumable uploads of HTTP (draft-ietf-httpbis-resumable-upload): the interop version of a
    /// draft, or `nil` for the final protocol.
    case draft(Int?)
    /// tus 1.0.
    case tus

    /// The supported interop versions of the draft: 3 is -01, 4 is -02, 5 is -03, 6 is -04 and -05,
    /// 7 is -06 to -08, 8 is -09 and later ones.
    static let versions = 3...8

    /// - Returns: `nil` for a version that is not supported.
    init?(of request: Request) {
        if request.fields.contains(.tusResumable) {
            self = .tus
            return
        }
        guard request.fields.contains(.interopVersion) else {
            self = .draft(nil)
            return
        }
        let version = FieldItem.integer(.interopVersion) { request.fields.values(of: $0) }
        guard let version, version <= Int64(Self.versions.upperBound),
            Self.versions.contains(Int(version))
        else { return nil }
        self = .draft(Int(version))
    }

    /// The version of the draft; the final protocol counts as the newest version.
    private var version: Int {
        if case .draft(let version?) = self { return version }
        return Self.versions.upperBound + 1
    }

    var isTus: Bool { self == .tus }

    /// Whether the version has Upload-Incomplete, the opposite of Upload-Complete: 3 and 4.
    private var saysIncomplete: Bool { version < 5 }

    /// Whether a PATCH must have the draft's media type, `application/partial-upload`.
    var requiresMediaType: Bool { version >= 6 }

    /// Whether interim responses 104 report the offset while content arrives.
    var takesProgress: Bool { !isTus && version >= 5 }

    /// Whether the request says that its content completes the upload; `nil` when it does not say.
    func isComplete(_ request: Request) -> Bool? {
        let read = { request.fields.values(of: $0) }
        guard saysIncomplete else { return FieldItem.boolean(.uploadComplete, in: read) }
        return FieldItem.boolean(.uploadIncomplete, in: read).map { !$0 }
    }

    /// Refuses a request that marks its content as partial by the field of another version.
    /// - Throws: 400, because half an upload must not count as the whole.
    func refuseOthersPart(_ request: Request) throws(UploadProblem) {
        guard !isTus else { return }
        let read = { request.fields.values(of: $0) }
        let isPart =
            saysIncomplete
            ? FieldItem.boolean(.uploadComplete, in: read) == false
            : FieldItem.boolean(.uploadIncomplete, in: read) == true
        guard isPart else { return }
        throw UploadProblem(
            .badRequest,
            "\(saysIncomplete ? "Upload-Complete" : "Upload-Incomplete") is from another version")
    }

    /// Whether a PATCH completes the upload. In versions 3 and 4 a PATCH without Upload-Incomplete
    /// does; later versions require Upload-Complete. A tus upload ends at its announced length.
    /// - Throws: 400 for a malformed field, or a missing Upload-Complete, because half an upload
    ///   must not count as the whole.
    func isLast(_ request: Request) throws(UploadProblem) -> Bool {
        if isTus { return false }
        if let isComplete = isComplete(request) { return isComplete }
        guard saysIncomplete, !request.fields.contains(.uploadIncomplete) else {
            let name = saysIncomplete ? "Upload-Incomplete" : "Upload-Complete"
            throw UploadProblem(.badRequest, "\(name) must be ?0 or ?1")
        }
        return true
    }

    /// Adds the field that says whether an upload is complete.
    func tell(isComplete: Bool, in fields: inout HTTPFields) {
        guard !isTus else { return }
        if saysIncomplete {
            fields[.uploadIncomplete] = isComplete ? "?0" : "?1"
        } else {
            fields[.uploadComplete] = isComplete ? "?1" : "?0"
        }
    }

    /// Adds the fields with the limits of uploads.
    /// - Parameters:
    ///   - byteLimit: the most bytes of an upload.
    ///   - age: the seconds until the upload expires.
    func tell(byteLimit: Int64, age: Int64, in fields: inout HTTPFields) {
        guard !isTus, version >= 6 else { return }
        let size = byteLimit < .max ? "max-size=\(byteLimit)" : "min-size=0"
        fields[.uploadLimit] = "\(size), \(version == 6 ? "expires" : "max-age")=\(age)"
    }

    /// Adds the field that names the protocol's version in each answer and interim response.
    func stamp(_ fields: inout HTTPFields) {
        switch self {
        case .tus: fields[.tusResumable] = "1.0.0"
        case .draft(let version?): fields[.interopVersion] = "\(version)"
        case .draft(nil): break
        }
    }
}
