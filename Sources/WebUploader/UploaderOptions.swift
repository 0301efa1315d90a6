public import HTTPServerCore
public import HTTPServerKit

/// The action when the name of a new file or folder is taken.
public enum NameConflict: String, Hashable, Sendable, CaseIterable {
    /// Both are kept: the new file or folder gets a number, such as `name (1).txt`.
    case keepBoth = "keep"
    /// The new file replaces the old one in one step. Folders are not replaced: 409.
    case replace
    /// The new file or folder is refused: 409.
    case refuse
    /// The page asks the user. A request that does not choose an action is refused (409, with the
    /// code `exists`). Without ``UploaderOptions/letsClientsChoose`` this is the same as
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

/// The appearance, the limits and the permissions of an ``UploaderHandler``.
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
    /// The extensions that files may have, without dots; case is ignored; `nil` for all.
    /// Every operation hides and refuses other files.
    public var allowedExtensions: Set<String>?
    /// Whether names that begin with a dot are shown and accepted. This applies to each name of a
    /// path.
    public var allowsHidden = false
    /// The action when a name is taken, unless the request chooses another one. A move and a copy
    /// replace a file only if their request says so, and are refused otherwise.
    public var conflict = NameConflict.keepBoth
    /// Whether a request may choose the action when a name is taken.
    public var letsClientsChoose = true
    /// The most bytes of one file. A longer one gets 413: before it is read if its length is known,
    /// otherwise as soon as more bytes have arrived.
    public var contentLimit: Int64 = .max
    /// Returns how many more bytes the user of a request (`Request.identity`) may add; `nil` for no
    /// limit. A longer upload is refused (507 with the code `quota`): before content is read if its
    /// length is known, otherwise as soon as more bytes have arrived.
    ///
    /// It is called for each uploaded file and for each copy. Its result must include all changes
    /// that ``onEvent`` has reported; the bytes of the user's running requests are subtracted from
    /// the result. The bytes of a file that will be replaced are not added.
    public var quota: (@Sendable (Request) async throws -> Int64?)?
    /// The most files of one form; above it 413.
    public var fileCountLimit = 1_000
    /// How long a deletion can be undone; zero disables undo. Meanwhile the deleted files stay in
    /// the hidden area of the store, where they use disk space. They are removed for good when the
    /// server stops. A store without a bin removes files immediately.
    public var undoTime = Duration.seconds(60)
    /// How many browsers may listen to changes at the same time; others get 503 and see changes
    /// when they load a folder again.
    public var listenerLimit = 200
    /// Returns the role of a request's user (`Request.identity`).
    public var role: @Sendable (Request) async -> UploaderRole = { _ in .all }
    /// The allowed hosts of requests; other hosts get 421, as a guard against DNS rebinding. With
    /// `nil` hosts are not checked; then wrap the handler in a `HostCheckHandler`.
    public var hosts: AllowedHosts? = AllowedHosts()
    /// Further origins whose pages may send requests, such as `https://app.example.org`. They also
    /// need a token.
    public var trustedOrigins: Set<String> = []
    /// Whether programs other than browsers need a token, too.
    public var requiresToken = false
    /// How long a token of the page is valid, in seconds; the page renews it by itself.
    public var tokenLifetime: Int64 = 12 * 3_600
    /// Called before each operation, lists and downloads included; `false` refuses it with 403. It
    /// may also throw an `HTTPError`. For a resumable upload it is called at the beginning, too.
    public var shouldPerform: (@Sendable (UploaderOperation, Request) async throws -> Bool)?
    /// Called after each operation, whether it succeeded or failed. For a download, that is when
    /// all of its content was passed to the system, or the client has gone.
    public var onEvent: (@Sendable (UploaderEvent) async -> Void)?
    /// Called whenever content of an upload arrives. It may run on the connection's event loop and
    /// must not block.
    public var uploadProgress: (@Sendable (UploadProgress) -> Void)?

    /// The defaults.
    public init() {}

    /// These options with the extensions in lower case, as they are compared.
    var normalized: UploaderOptions {
        var options = self
        options.allowedExtensions = allowedExtensions.map { Set($0.map { $0.lowercased() }) }
        return options
    }
}
