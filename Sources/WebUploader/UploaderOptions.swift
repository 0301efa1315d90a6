public import HTTPServerCore
public import HTTPServerKit

/// The action when the name of a new file or folder is taken.
public enum NameConflict: String, Hashable, Sendable, CaseIterable {
    /// Both are kept: the new one gets a number, such as `name (1).txt`.
    case keepBoth = "keep"
    /// A file is replaced by the new one, at once and whole. Folders are not replaced: 409.
    case replace
    /// The new one is refused: 409.
    case refuse
    /// The new one is refused (409, with the code `exists`) unless the request chooses, and the
    /// page asks what is to happen. Without ``UploaderOptions/letsClientsChoose`` it is the same as
    /// ``refuse``.
    case ask
}

/// The permissions of a user.
public enum UploaderRole: String, Hashable, Sendable, CaseIterable {
    /// Everything.
    case all
    /// To upload files and to make folders. Nothing is listed, read or replaced.
    case uploadOnly
    /// To download files whose address is known. Nothing is listed or changed.
    case downloadOnly
    /// To list and to download. Nothing is changed.
    case readOnly

    var mayList: Bool { self == .all || self == .readOnly }
    var mayDownload: Bool { self != .uploadOnly }
    var mayUpload: Bool { self == .all || self == .uploadOnly }
    var mayChange: Bool { self == .all }
}

/// How an ``UploaderHandler`` looks, and what it allows.
public struct UploaderOptions: Sendable {
    /// The title of the page, and the name of the root in its path.
    public var title = "Files"
    /// The heading of the page; `nil` to use the title.
    public var header: UploaderText?
    /// Text before the list of files.
    public var prologue: UploaderText = ""
    /// Text after the list of files.
    public var epilogue: UploaderText = ""
    /// Text at the end of the page.
    public var footer: UploaderText = ""
    /// The extensions that files may have, without dots, in any case of letters; `nil` for all.
    /// Every operation hides and refuses other files.
    public var allowedExtensions: Set<String>?
    /// Whether names that begin with a dot are shown and taken. It counts for each name of a path.
    public var allowsHidden = false
    /// The action when a name is taken, unless the request chooses another one. A move and a copy
    /// replace a file only if their request says so, and are refused otherwise.
    public var conflict = NameConflict.keepBoth
    /// Whether a request may choose that itself.
    public var letsClientsChoose = true
    /// The most bytes of one file. A longer one gets 413: before it is read if its length is known,
    /// else as soon as more bytes have come.
    public var contentLimit: Int64 = .max
    /// How many more bytes the user of a request may add, by `Request.identity`; `nil` without a
    /// limit. A longer upload is refused (507 with the code `quota`), before content is read if its
    /// length is known, else as soon as more has come.
    ///
    /// It is called for each uploaded file and for each copy, and must count the changes that
    /// ``onEvent`` has reported. The bytes of the user's running requests are subtracted from it. A
    /// file that is replaced does not make room for the new one.
    public var quota: (@Sendable (Request) async throws -> Int64?)?
    /// The most files of one form; above it 413.
    public var fileCountLimit = 1_000
    /// How long a deletion can be undone; zero for not at all. Meanwhile it is kept in the hidden
    /// area of the store, where it takes room, and is gone for good when the server stops. A store
    /// without a bin removes at once.
    public var undoTime = Duration.seconds(60)
    /// How many browsers may listen to changes at the same time; others get 503 and see changes
    /// when they load a folder again.
    public var listenerLimit = 200
    /// The role of the user of a request, by `Request.identity`.
    public var role: @Sendable (Request) async -> UploaderRole = { _ in .all }
    /// The hosts that requests may be for; `nil` does not look at them. Others are answered by 421,
    /// as a guard against DNS rebinding: have it checked here, or by a `HostCheckHandler` around.
    public var hosts: AllowedHosts? = AllowedHosts()
    /// Origins whose pages may send anything, such as `https://app.example.org`, provided that they
    /// also have a token.
    public var trustedOrigins: Set<String> = []
    /// Whether programs other than browsers need a token, too.
    public var requiresToken = false
    /// How long a token of the page is good for, in seconds; the page gets another by itself.
    public var tokenLifetime: Int64 = 12 * 3_600
    /// Asked before each operation, lists and downloads included; `false` refuses it with 403. It
    /// may also throw an `HTTPError`. Of a resumable upload it is asked at the beginning, too.
    public var shouldPerform: (@Sendable (UploaderOperation, Request) async throws -> Bool)?
    /// Called after each operation, whether it succeeded or failed: after a download when the
    /// system has all of its content, or the client has gone.
    public var onEvent: (@Sendable (UploaderEvent) async -> Void)?
    /// Called whenever content of an upload arrives. It may run on the connection's event loop and
    /// must not block.
    public var uploadProgress: (@Sendable (UploadProgress) -> Void)?

    /// The defaults.
    public init() {}

    /// The same, with extensions as they are compared.
    var normalized: UploaderOptions {
        var options = self
        options.allowedExtensions = allowedExtensions.map { Set($0.map { $0.lowercased() }) }
        return options
    }
}
