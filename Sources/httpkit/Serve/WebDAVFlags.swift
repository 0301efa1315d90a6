import ArgumentParser
import WebDAVKit

/// The options for WebDAV access to the directory.
struct WebDAVFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "An origin by which WebDAV clients reach the server; can be given several times.",
            discussion: """
                COPY and MOVE name their destination by the origin that the client uses. If a \
                proxy forwards requests with another Host, give that origin here, such as \
                https://files.example.org. Otherwise COPY and MOVE fail with 502.
                """,
            valueName: "url"))
    var origin: [String] = []

    @Flag(
        help: ArgumentHelp(
            "Answer WebDAV changes only once they are on the disk.",
            discussion: """
                Without this flag, answered changes survive the end of the server, but changes of \
                the last half minute may be lost in a power cut. With it, files, folders, \
                properties and the locks of --webdav-locks survive a power cut, too, and each \
                change waits for the disk.
                """))
    var webdavSync = false

    func validate() throws {
        for text in origin where !WebDAVOptions.isOrigin(text) {
            throw ValidationError(
                "--origin takes a scheme and a host, such as https://files.example.org; "
                    + "got \(text)")
        }
    }

    /// The host names in the origins, without IPv6 addresses. A proxy that forwards Host unchanged
    /// sends them.
    var hosts: [String] {
        origin.compactMap { text in
            guard let start = text.firstRange(of: "://")?.upperBound,
                text[start...].first != "["
            else { return nil }
            return String(text[start...].prefix { $0 != "/" && $0 != ":" })
        }
    }

    /// The first of these flags that was given; `nil` if none was.
    var given: String? {
        if webdavSync { return "--webdav-sync" }
        return origin.isEmpty ? nil : "--origin"
    }
}
