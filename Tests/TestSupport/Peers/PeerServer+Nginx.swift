extension PeerServer {
    /// One of nginx's servers.
    package struct Site: Sendable {
        /// Where it listens, such as `127.0.0.2` or `[::1]`.
        package var addresses: [String]
        /// Its certificate; nil for plain TCP.
        package var identity: TestCertificates.Identity?
        /// Whether it speaks HTTP/2: with TLS if ALPN selects it, without TLS always.
        package var speaksHTTP2: Bool
        /// The path of the certificate of the authority that clients need a certificate of; nil for
        /// none.
        package var clientAuthority: String?
        /// Further lines of its configuration.
        package var more: String

        package init(
            at addresses: String..., identity: TestCertificates.Identity? = nil,
            speaksHTTP2: Bool = false, clientAuthority: String? = nil, more: String = ""
        ) {
            self.addresses = addresses
            self.identity = identity
            self.speaksHTTP2 = speaksHTTP2
            self.clientAuthority = clientAuthority
            self.more = more
        }
    }

    /// nginx with some sites, all at one port.
    ///
    /// It serves files, with ranges; below `/dav/` it accepts PUT and DELETE; `/who` responds with
    /// facts of the request, one `name=value` per line: sni, host, address, cookie, version,
    /// authorization, client; `/slow/…` are the same files at 1 MiB per second; `/old` redirects
    /// to `/who`.
    package static func nginx(_ sites: Site...) async throws -> PeerServer {
        try await nginx { folder, port in
            let servers = sites.map { server($0, port: port) }.joined()
            return "http {\n" + http(folder) + servers + "}\n"
        }
    }

    /// nginx as a proxy for HTTP, which forwards content as it arrives, and WebSockets.
    /// - Parameter site: where it listens; `more` are lines of its location, such as
    ///   `proxy_set_header`.
    package static func nginxProxy(_ site: ProxySite) async throws -> PeerServer {
        try await nginx { folder, port in
            """
            http {
            \(http(folder))map $http_upgrade $connection_field { default upgrade; "" ""; }
            map $remote_addr $forwarded_node { default $remote_addr; ~: "[$remote_addr]"; }
            map $http_host $forwarded_host { default ""; "~^[][A-Za-z0-9._:-]+$" $http_host; }
            server {
            \(listen(site, port))location / {
                proxy_pass http://127.0.0.1:\(site.server);
                proxy_http_version 1.1;
                proxy_request_buffering off;
                proxy_buffering off;
                proxy_set_header Upgrade $http_upgrade;
                proxy_set_header Connection $connection_field;
                \(site.more)
            }
            }
            }

            """
        }
    }

    /// nginx as a proxy for TCP, which sends the header of the PROXY protocol.
    /// - Parameter site: where it listens; `more` are lines of its server.
    package static func nginxStream(_ site: ProxySite) async throws -> PeerServer {
        try await nginx { _, port in
            """
            stream {
            server {
            \(listen(site, port))proxy_pass 127.0.0.1:\(site.server);
            proxy_protocol on;
            \(site.more)
            }
            }

            """
        }
    }

    private static func nginx(
        _ sections: (_ folder: String, _ port: UInt16) -> String
    ) async throws -> PeerServer {
        let program = try Program.find("nginx")
        return try await PeerServer(readyFile: "pid") { folder, ports in
            let text = modules + main(folder.path) + sections(folder.path, ports.0)
            try folder.write("nginx.conf", text)
            return (
                program,
                ["-p", folder.path, "-c", folder.path("nginx.conf"), "-e", folder.path("error")]
            )
        }
    }

    /// The proxy for TCP is a module, unless it is built into the program.
    private static var modules: String {
        let known = ["/usr/lib/nginx/modules", "/usr/lib64/nginx/modules"]
        return known.map { "\($0)/ngx_stream_module.so" }.filter(isFile)
            .map { "load_module \($0);\n" }.joined()
    }

    private static func listen(_ site: ProxySite, _ port: UInt16) -> String {
        guard let identity = site.identity else { return "listen 127.0.0.1:\(port);\n" }
        return """
            listen 127.0.0.1:\(port) ssl;
            ssl_certificate \(identity.certificate);
            ssl_certificate_key \(identity.key);

            """
    }

    private static func main(_ folder: String) -> String {
        """
        daemon off;
        master_process off;
        worker_processes 1;
        pid \(folder)/pid;
        error_log \(folder)/error;
        events { worker_connections 512; }

        """
    }

    private static func http(_ folder: String) -> String {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(folder)/temp;\n" }.joined()
        return """
            \(temporary)log_format test '$request $status $host $server_addr';
            access_log \(folder)/log test;
            root \(folder)/www;
            default_type application/octet-stream;
            client_max_body_size 0;
            keepalive_requests 1000000;
            tcp_nodelay on;

            """
    }

    private static func server(_ site: Site, port: UInt16) -> String {
        let flags = (site.identity == nil ? "" : " ssl") + (site.speaksHTTP2 ? " http2" : "")
        var text = "server {\n"
        for address in site.addresses { text += "listen \(address):\(port)\(flags);\n" }
        if let identity = site.identity {
            text += "ssl_certificate \(identity.certificate);\n"
            text += "ssl_certificate_key \(identity.key);\n"
        }
        if let authority = site.clientAuthority {
            text += "ssl_client_certificate \(authority);\nssl_verify_client on;\n"
        }
        return text + site.more + locations + "}\n"
    }

    private static let locations = """
        location = /who {
            default_type text/plain;
            return 200 "sni=$ssl_server_name\\nhost=$http_host\\naddress=$server_addr\\n\
        cookie=$http_cookie\\nversion=$server_protocol\\nauthorization=$http_authorization\\n\
        client=$ssl_client_s_dn\\n";
        }
        location = /old { return 302 /who; }
        location /dav/ { dav_methods PUT DELETE; }
        location /slow/ { rewrite ^/slow/(.*)$ /$1 break; limit_rate 1m; }

        """
}
