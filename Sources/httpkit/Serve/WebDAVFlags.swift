import ArgumentParser
import WebDAVKit

/// How the directory is served by WebDAV.
struct WebDAVFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "An origin by which WebDAV clients reach the server; can be given several times.",
            discussion: """
                COPY and MOVE name their destination by the address that the client knows. Behind \
                a proxy that sends another Host on, name that address here, such as \
                https://files.example.org; without it these answer 502.
                """,
            valueName: "url"))
    var origin: [String] = []

    @Flag(
        help: ArgumentHelp(
            "Answer WebDAV changes only once they are on the disk.",
            discussion: """
                Without it what was answered outlives the end of the server, but what came in the \
                last half minute need not outlive a power cut. With it files, folders, properties \
                and the locks of --webdav-locks do, and each change waits for the disk.
                """))
    var webdavSync = false

    func validate() throws {
        for text in origin where !WebDAVOptions.isOrigin(text) {
            throw ValidationError(
                "--origin takes a scheme and a host, such as https://files.example.org; "
                    + "\(text) is something else")
        }
    }

    /// The names of hosts in the origins: a proxy that keeps Host sends them.
    var hosts: [String] {
        origin.compactMap { text in
            guard let start = text.firstRange(of: "://")?.upperBound,
                text[start...].first != "["
            else { return nil }
            return String(text[start...].prefix { $0 != "/" && $0 != ":" })
        }
    }

    /// The first of these that was given; `nil` for none.
    var given: String? {
        if webdavSync { return "--webdav-sync" }
        return origin.isEmpty ? nil : "--origin"
    }
}
