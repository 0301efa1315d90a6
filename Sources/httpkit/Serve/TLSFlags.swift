import ArgumentParser
internal import HTTPServerAddresses
import HTTPServerCore
import HTTPServerTLS
import Logging
internal import ToolkitSystem

/// How `serve` encrypts its connections.
struct TLSFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Use TLS with the certificate in FILE (PEM, with chain); can be given several times.",
            discussion: """
                Each needs its --tls-key, in the same order. Clients get the certificate for the \
                host name that they request. Changed files are loaded within a minute, or on SIGHUP.
                """,
            valueName: "file"))
    var tlsCertificate: [String] = []

    @Option(
        help: ArgumentHelp("The private key of a --tls-certificate (PEM).", valueName: "file"))
    var tlsKey: [String] = []

    @Flag(
        help: ArgumentHelp(
            "Use TLS with a new certificate for this machine.",
            discussion: """
                It is signed by your own development authority, whose file is shown; trust it in \
                the browsers and tools that connect. Nothing is installed.
                """))
    var tlsDevelopment = false

    @Option(
        help: ArgumentHelp(
            "Require a client certificate of an authority in FILE (PEM).", valueName: "file"))
    var tlsClientCA: String?

    @Option(
        help: ArgumentHelp(
            "Send clients of plain HTTP on PORT to the https URL.", valueName: "port"))
    var redirectHTTP: UInt16?

    @Option(
        help: ArgumentHelp(
            "Answer ACME challenges on the port of --redirect-http from FOLDER.",
            discussion: """
                FOLDER is the folder that the ACME client writes to, such as certbot's \
                --webroot-path; only .well-known/acme-challenge in it is served.
                """,
            valueName: "folder"))
    var acmeChallenges: String?

    @Option(
        help: ArgumentHelp(
            "Let browsers use only https for this host for SECONDS (HSTS).",
            discussion: """
                Off by default: browsers that have seen it refuse plain HTTP and untrusted \
                certificates until the time is over. 0 revokes it.
                """,
            valueName: "seconds"))
    var hsts: Int?

    var isOn: Bool { tlsDevelopment || !tlsCertificate.isEmpty }

    func validate() throws {
        guard tlsCertificate.count == tlsKey.count else {
            throw ValidationError(
                "each --tls-certificate needs a --tls-key: found \(tlsCertificate.count) and "
                    + "\(tlsKey.count)")
        }
        if !isOn, tlsClientCA != nil {
            throw ValidationError("--tls-client-ca needs --tls-certificate or --tls-development")
        }
        if !isOn, redirectHTTP != nil {
            throw ValidationError("--redirect-http needs --tls-certificate or --tls-development")
        }
        if acmeChallenges != nil, redirectHTTP == nil {
            throw ValidationError("--acme-challenges needs --redirect-http")
        }
        guard let hsts else { return }
        if hsts < 0 { throw ValidationError("--hsts takes a number of seconds") }
        if tlsDevelopment || tlsCertificate.isEmpty {
            throw ValidationError("--hsts needs --tls-certificate, and no --tls-development")
        }
    }

    /// The certificates; `nil` for plain HTTP. Ends the program when they cannot be used.
    /// - Parameter host: the host that the server listens at.
    func context(host: String) -> TLSContext? {
        guard isOn else { return nil }
        do throws(TLSError) {
            var certificates = zip(tlsCertificate, tlsKey).map {
                TLSCertificate.files(chain: $0, key: $1)
            }
            if tlsDevelopment { certificates.append(try developmentCertificate(host)) }
            var configuration = TLSConfiguration(certificates: certificates)
            configuration.plainRequests = .redirect
            if let tlsClientCA {
                configuration.clientAuthentication = .required(authorities: .file(tlsClientCA))
            }
            return try TLSContext(configuration)
        } catch {
            fail(error.description)
        }
    }

    private func developmentCertificate(_ host: String) throws(TLSError) -> TLSCertificate {
        let folder = DevelopmentAuthority.userFolder(for: "httpkit")
        // A relative folder could be inside the folder that is served, and it contains a private
        // key.
        guard folder.hasPrefix("/") else {
            fail("--tls-development needs HOME or XDG_CONFIG_HOME with an absolute path")
        }
        let authority = try DevelopmentAuthority(folder: folder)
        warn("the certificate is signed by \(authority.path); trust it where you connect from")
        let own = Syscalls.hostName()
        let addresses = ((try? NetworkInterface.all()) ?? []).flatMap { $0.addresses.map(\.host) }
        var names = ["localhost", own, "\(own).local", "127.0.0.1", "::1"]
        for name in [host] + addresses where !names.contains(name) { names.append(name) }
        return try authority.certificate(for: names)
    }

    /// Reloads certificates when their files change, and on SIGHUP.
    /// - Returns: a closure that ends the watch.
    static func watch(_ context: TLSContext) -> () -> Void {
        let logger = Logger(label: "http.tls")
        let task = Task { await context.reloadOnChanges(logger: logger) }
        let signals = SignalWatch([.hangUp], repeats: true) { _ in
            // An operator who sends the signal expects an answer at any log level.
            if context.reload(logger) { warn("certificates were reloaded") }
        }
        return {
            task.cancel()
            signals.end()
        }
    }
}
