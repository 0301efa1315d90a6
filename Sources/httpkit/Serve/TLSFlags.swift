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
            "Speak TLS with the certificate in FILE (PEM, with its chain); can be given several times.",
            discussion: """
                Each needs its --tls-key, in the same order. Clients get the one with the host name \
                that they ask for. Changed files are loaded within a minute, or on SIGHUP.
                """,
            valueName: "file"))
    var tlsCertificate: [String] = []

    @Option(
        help: ArgumentHelp("The private key of a --tls-certificate (PEM).", valueName: "file"))
    var tlsKey: [String] = []

    @Flag(
        help: ArgumentHelp(
            "Speak TLS with a certificate for this machine that is made now.",
            discussion: """
                An authority of yours signs it, whose file is shown; trust it in browsers and tools \
                that shall connect. Nothing is installed.
                """))
    var tlsDevelopment = false

    @Option(
        help: ArgumentHelp(
            "Demand a certificate that an authority in FILE (PEM) has signed.", valueName: "file"))
    var tlsClientCA: String?

    @Option(
        help: ArgumentHelp(
            "Send clients of plain HTTP on PORT to the https URL.", valueName: "port"))
    var redirectHTTP: UInt16?

    @Option(
        help: ArgumentHelp(
            "Answer ACME challenges on the port of --redirect-http from FOLDER.",
            discussion: """
                FOLDER is the one that the ACME client writes to, such as certbot's --webroot-path; \
                nothing but .well-known/acme-challenge in it is served.
                """,
            valueName: "folder"))
    var acmeChallenges: String?

    @Option(
        help: ArgumentHelp(
            "Have browsers use https alone for this host for SECONDS (HSTS).",
            discussion: """
                Off by default: browsers that have seen it refuse plain HTTP, and certificates that \
                they do not trust, until the time is over. 0 takes it back.
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
    /// - Parameter host: what the server listens at.
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
        // A relative one could be inside of the folder that is served, and it has a private key.
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
    /// - Returns: ends it.
    static func watch(_ context: TLSContext) -> () -> Void {
        let logger = Logger(label: "http.tls")
        let task = Task { await context.reloadOnChanges(logger: logger) }
        let signals = SignalWatch([.hangUp], repeats: true) { _ in
            // An operator who sends the signal waits for the answer, whatever the log level is.
            if context.reload(logger) { warn("certificates were reloaded") }
        }
        return {
            task.cancel()
            signals.end()
        }
    }
}
