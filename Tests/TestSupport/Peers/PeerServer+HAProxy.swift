extension PeerServer {
    /// A proxy at ``port``, in front of a server at 127.0.0.1.
    package struct ProxySite: Sendable {
        /// The port of the server.
        package var server: UInt16
        /// Its certificate; nil for plain TCP.
        package var identity: TestCertificates.Identity?
        /// The path of the certificate of the client authority; nil for no client certificates.
        package var clientAuthority: String?
        /// Further lines of its configuration.
        package var more: String

        package init(
            to server: UInt16, identity: TestCertificates.Identity? = nil,
            clientAuthority: String? = nil, more: String = ""
        ) {
            self.server = server
            self.identity = identity
            self.clientAuthority = clientAuthority
            self.more = more
        }
    }

    /// HAProxy, as a proxy for HTTP or for TCP. At ``secondPort`` it reports the state of the
    /// server, as CSV at `/;csv`.
    ///
    /// - Parameters:
    ///   - site: where it listens; `more` are lines of its section.
    ///   - mode: `http` or `tcp`.
    ///   - flags: the flags of the line `server`, such as `send-proxy-v2 check`.
    package static func haproxy(
        _ site: ProxySite, mode: String, flags: String = ""
    ) async throws -> PeerServer {
        let program = try Program.find("haproxy")
        return try await PeerServer(readyFile: "pid") { folder, ports in
            var bind = "127.0.0.1:\(ports.0)"
            if let identity = site.identity {
                // One file for certificate and key.
                let pem = [identity.certificate, identity.key].map { text($0) }.joined()
                try folder.write("site.pem", pem)
                bind += " ssl crt \(folder.path("site.pem")) alpn http/1.1"
                if let authority = site.clientAuthority {
                    bind += " ca-file \(authority) verify optional"
                }
            }
            // HAProxy makes its command socket once it listens.
            try folder.write(
                "haproxy.cfg",
                """
                global
                    stats socket \(folder.path("pid")) level user
                    maxconn 200
                    nbthread 1
                    ssl-server-verify none
                defaults
                    timeout connect 60s
                    timeout client 60s
                    timeout server 60s
                    timeout tunnel 60s
                    timeout check 60s
                listen site
                    mode \(mode)
                    bind \(bind)
                \(site.more.split(separator: "\n").map { "    \($0)\n" }.joined())\
                    server one 127.0.0.1:\(site.server) \(flags)
                listen state
                    mode http
                    bind 127.0.0.1:\(ports.1)
                    stats enable
                    stats uri /

                """)
            return (program, ["-db", "-f", folder.path("haproxy.cfg")])
        }
    }
}
