import ArgumentParser
import Dispatch
import HTTPParser
internal import HTTPServerAddresses
import HTTPServerCore
internal import HTTPServerKit
import HTTPServerTLS
import Logging
import ResumableUploads
internal import ToolkitSystem
import WebDAVKit

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// `httpkit serve`: the files of a directory over HTTP.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve the files of a directory.",
        discussion: """
            Prints the address on standard output once it accepts connections, and nothing else \
            there. Control-C and SIGTERM stop it: running requests get at most ten seconds to end.

            Each flag can also be an environment variable, such as HTTPKIT_PORT=8000, \
            HTTPKIT_ACCESS_LOG=1, or HTTPKIT_TRUSTED_PROXY with one value per line. Flags override \
            variables; --host and --port also override HTTPKIT_UNIX_SOCKET.
            """)

    @Argument(help: "The directory.")
    var directory = "."

    @OptionGroup(title: "Listening")
    var listen: ListenFlags

    @OptionGroup(title: "Files")
    var files: FileOptions

    @OptionGroup(title: "Answers")
    var answers: AnswerFlags

    @Option(
        help: ArgumentHelp(
            "Answer any request to PATH with a description of the request, as JSON.",
            valueName: "path"))
    var echo: String?

    @Option(
        help: ArgumentHelp(
            "Serve the directory by WebDAV, below PREFIX.",
            discussion: """
                Files can be changed there, unless --read-only is given. Names that begin with a \
                dot are refused unless --show-hidden is.
                """, valueName: "prefix"))
    var webdav: String?

    @Option(
        help: ArgumentHelp(
            "Keep WebDAV locks in FILE, so that they survive restarts; by default in memory.",
            valueName: "file"))
    var webdavLocks: String?

    @OptionGroup(title: "WebDAV")
    var webdavOptions: WebDAVFlags

    @OptionGroup(title: "Upload page")
    var uploaderFlags: UploaderFlags

    @OptionGroup(title: "Access")
    var access: AccessOptions

    @OptionGroup(title: "TLS")
    var tls: TLSFlags

    @OptionGroup(title: "Proxies")
    var proxies: ProxyFlags

    @Option(help: "The number of event loops; by default one per core, at most 4.")
    var loops: Int?

    @Option(
        help: ArgumentHelp(
            "The most content of one request, such as 100M or 5GiB; above it 413.",
            discussion: """
                On the upload page it is the limit of each file. By default the free space on the \
                disk is the limit.
                """, valueName: "bytes"))
    var maxBody: ByteCount?

    @Option(
        help: ArgumentHelp(
            "The most bytes of all files with --webdav and --uploader, such as 20GiB; above it 507.",
            discussion: """
                The files are counted when the server starts. A resumable upload longer than this \
                limit is refused with 413.
                """, valueName: "bytes"))
    var quota: ByteCount?

    @Option(
        help: "trace, debug, info, notice, warning, error or critical.",
        transform: { text in
            guard let level = Logger.Level(rawValue: text) else {
                throw ValidationError("unknown log level \(text)")
            }
            return level
        })
    var logLevel = Logger.Level.warning

    @Flag(help: "Log each request on standard error, in combined format.")
    var accessLog = false

    @Flag(
        inversion: .prefixedNo,
        help: ArgumentHelp(
            "Show a QR code of the address, or of the upload page if there is one.",
            discussion: """
                Only on a terminal, and only if other machines can reach the address: with --host \
                '*', or --host and an address of this machine.
                """))
    var qr = true

    func validate() throws {
        if let loops, !(1...256).contains(loops) {
            throw ValidationError("--loops takes a number from 1 to 256")
        }
        if let age = files.cacheAge, age < 0 {
            throw ValidationError("--cache-age takes a number of seconds")
        }
        if let echo, !echo.hasPrefix("/") {
            throw ValidationError("--echo takes a path that begins with a slash")
        }
        if let webdav, !webdav.hasPrefix("/") {
            throw ValidationError("--webdav takes a path that begins with a slash")
        }
        if webdavLocks != nil, webdav == nil {
            throw ValidationError("--webdav-locks needs --webdav")
        }
        if let flag = webdavOptions.given, webdav == nil, uploaderFlags.uploader == nil {
            throw ValidationError("\(flag) needs --webdav or --uploader")
        }
        if quota != nil, webdav == nil, uploaderFlags.uploader == nil {
            throw ValidationError("--quota needs --webdav or --uploader")
        }
        if tls.redirectHTTP != nil, listen.unixSocket != nil {
            throw ValidationError("--redirect-http needs a port, not --unix-socket")
        }
        try validatePaths()
    }

    func run() async throws {
        let place = listen.place()
        logToStandardError(logLevel)
        // The reader of standard output may close it, as `head` does; the server continues.
        HTTPServer.ignoreBrokenPipes()
        let store = webdav == nil && uploaderFlags.uploader == nil ? nil : try localStore
        let shared = store.map { webdavHandler($0) }
        // Other programs, or an earlier process that was killed, may have removed locked resources.
        if let webdavLocks {
            do {
                try await shared?.removeStaleLocks()
            } catch {
                fail("--webdav-locks: \(webdavLocks): \(error)")
            }
        }
        var uploads: [ResumableUploadHandler] = []
        let context = tls.context(host: listen.host)
        let endWatch = context.map(TLSFlags.watch)
        defer { endWatch?() }
        let server = HTTPServer(
            try serverConfiguration(context, place),
            handler: try proxies.handler(
                strict(
                    answers.handler(
                        handler(shared, place, &uploads), changesFiles: changesFiles,
                        hasLogin: access.auth != .none))))
        let redirect = redirectServer(to: server)
        let redirecting = Locked<SignalWatch?>(nil)
        do {
            try await redirect?.start()
            try await server.run(stoppingOn: [.interrupt, .terminate]) { _ in
                let watch = Self.stopOnSignals(redirect)
                redirecting.withLock { $0 = watch }
                // If a signal stops the server meanwhile, it has no addresses.
                let isReached = isReachedByOthers(server)
                announce(server, redirect, place, isReached)
                warn(isReached)
            }
        } catch let error as ListenError {
            fail(error.description)
        }
        // From here on a second signal ends the program immediately.
        redirecting.withLock { $0 }?.end()
        await redirect?.shutdown()
        for upload in uploads { upload.close() }
        store?.close()
        StandardErrorLog.finish()
    }

    /// Collects the lines of the access log, because a write for each would cost more than the
    /// request.
    private static let accessLines = AccessLogWriter(StandardErrorLog.lines)

    /// The most bytes of the content of one request.
    var contentLimit: Int64 { maxBody?.bytes ?? .max }

    private func webdavHandler(_ store: LocalStore) -> WebDAVHandler {
        var options = WebDAVOptions()
        options.isReadOnly = files.readOnly
        options.allowsHidden = files.showHidden
        options.listsCollections = !files.noListing
        options.contentLimit = contentLimit
        options.origins = webdavOptions.origin
        return WebDAVHandler(store: store, locks: locks, options: options)
    }

    private var locks: MemoryLockStore {
        guard let webdavLocks else { return MemoryLockStore() }
        do throws(LockFileError) {
            return try MemoryLockStore(
                file: webdavLocks, synchronizes: webdavOptions.webdavSync)
        } catch {
            fail("--webdav-locks: \(error.description)")
        }
    }

    private var localStore: LocalStore {
        get throws {
            do throws(SystemError) {
                return try LocalStore(
                    root: directory, synchronizes: webdavOptions.webdavSync,
                    byteLimit: quota?.bytes)
            } catch {
                fail("\(directory): \(error.reason)")
            }
        }
    }

    private func serverConfiguration(
        _ context: TLSContext?, _ place: ListenPlace
    ) throws -> ServerConfiguration {
        var configuration = ServerConfiguration()
        configuration.endpoints = place.endpoints
        if let context { configuration.secure(by: context) }
        configuration.endpoints = try proxies.endpoints(configuration.endpoints)
        configuration.loops = loops
        configuration.raisesDescriptorLimit = true
        // The upload page limits each file of a form itself, and names the file that is too long.
        configuration.contentLimit = uploaderFlags.uploader == nil ? contentLimit : .max
        if accessLog { configuration.accessLog = { Self.accessLines.write($0) } }
        return configuration
    }

    /// Whether requests may change files.
    private var changesFiles: Bool {
        !files.readOnly && (webdav != nil || uploaderFlags.uploader != nil)
    }

    private func announce(
        _ server: HTTPServer, _ redirect: HTTPServer?, _ place: ListenPlace, _ isReached: Bool
    ) {
        guard
            let base = place.base(
                of: server, isSecure: tls.isOn, isInterface: listen.isInterface)
        else { return }
        let isURL = !base.hasPrefix("unix:")
        var lines = ["Serving \(directory) at \(base)\(isURL ? "/" : "")"]
        if let webdav {
            let path = webdav.hasSuffix("/") ? webdav : webdav + "/"
            lines.append("WebDAV at \(isURL ? base : "")\(path)")
        }
        if let prefix = uploaderFlags.uploader {
            let path = prefix.hasSuffix("/") ? prefix : prefix + "/"
            lines.append("Upload page at \(isURL ? base : "")\(path)")
        }
        if let echo { lines.append("Echoing requests at \(isURL ? base : "")\(echo)") }
        if let redirect,
            let plain = place.base(
                of: redirect, isSecure: false, isInterface: listen.isInterface)
        {
            lines.append("Redirecting \(plain)/ to it")
        }
        show(lines.joined(separator: "\n"))
        guard isURL, qr, isatty(STDOUT_FILENO) != 0, isReached else { return }
        // The code leads to the upload page, or to the files without one.
        let path = uploaderFlags.uploader.map { $0.hasSuffix("/") ? $0 : $0 + "/" } ?? "/"
        if let code = QRCode("\(base)\(path)") { show(code.terminalText) }
    }

    /// Whether the server can be reached from other machines.
    private func isReachedByOthers(_ server: HTTPServer) -> Bool {
        server.addresses.contains { !ShownHost.isLoopback($0.host) }
    }

    /// Warns if every client that reaches the server can change the files.
    private func warn(_ isReached: Bool) {
        guard changesFiles, access.auth == .none, isReached else { return }
        show(
            "httpkit: anybody who reaches this address can change the files; "
                + "--auth digest --user-file FILE asks for a login", on: STDERR_FILENO)
    }
}

/// Directs all loggers of the program to standard error. Call this once, before a logger exists.
func logToStandardError(_ level: Logger.Level) {
    LoggingSystem.bootstrap { StandardErrorLog(label: $0, level: level) }
}

/// Writes one line on standard error, and exits with status 2.
func fail(_ message: String) -> Never {
    show("httpkit: \(message)", on: STDERR_FILENO)
    exit(2)
}

/// Writes one line on standard error; the command continues.
func warn(_ message: String) {
    show("httpkit: \(message)", on: STDERR_FILENO)
}

/// Writes a text and a line end in one call, so that a script that waits for the first line finds
/// the others, too, and lines of several threads do not mix. Errors are ignored, so a closed stream
/// does not stop the server.
func show(_ text: String, on descriptor: CInt = STDOUT_FILENO) {
    var bytes = ByteBuffer()
    bytes.append(text + "\n")
    try? StandardOutput.write(&bytes, to: descriptor)
}
