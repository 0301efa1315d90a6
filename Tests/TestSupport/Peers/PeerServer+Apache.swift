internal import Foundation
internal import HTTPServerAuthentication
internal import HTTPServerCore

extension PeerServer {
    /// Name and password for the protected paths and the proxy of an Apache.
    package static let user = (name: "ada", password: "lovelace")

    /// The scheme by which a proxy authenticates clients.
    package enum ProxyLogin: String, Sendable, CaseIterable {
        case basic = "Basic"
        case digest = "Digest"
    }

    /// Apache's httpd.
    ///
    /// It serves files, with ranges; `/dav/` is WebDAV, so it accepts uploads; `/basic/` and
    /// `/digest/` are the same files for ``user``, and `/wall/` for clients that keep its two
    /// cookies. At ``secondPort`` it is a proxy for all clients on this machine, by CONNECT and by
    /// absolute targets.
    /// - Parameters:
    ///   - proxyLogin: the scheme by which the proxy authenticates ``user``; nil without login.
    ///   - proxyIdentity: the certificate of the proxy for TLS; nil for plain TCP.
    ///   - identity: the certificate of the server for TLS; nil for plain TCP.
    ///   - keepAlive: after how many seconds it closes an idle connection.
    package static func apache(
        proxyLogin: ProxyLogin? = nil, proxyIdentity: TestCertificates.Identity? = nil,
        identity: TestCertificates.Identity? = nil, keepAlive: Int = 60
    ) async throws -> PeerServer {
        let program = try Program.find("apache2", "httpd")
        return try await PeerServer(readyFile: "pid") { folder, ports in
            for (name, line) in [("digest", digestLine), ("basic", basicLine)] {
                try folder.write(name, line)
                // The server reads it as another user.
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o644], ofItemAtPath: folder.path(name))
            }
            var text = try configuration(folder.path, ports, proxyLogin, proxyIdentity)
            // The last KeepAliveTimeout counts.
            text += "KeepAliveTimeout \(keepAlive)\n" + tls(identity)
            try folder.write("httpd.conf", text)
            return (program, ["-X", "-d", folder.path, "-f", folder.path("httpd.conf")])
        }
    }

    private static var digestLine: String {
        let hash = DigestAlgorithm.md5.hex("\(user.name):tests:\(user.password)")
        return "\(user.name):tests:\(hash)\n"
    }

    /// The password as SHA-1, which Apache supports on all systems.
    private static var basicLine: String { "\(user.name):{SHA}MJgvYgf2tRctgBqviyzN0HpBdyY=\n" }

    private static func modulesFolder() throws -> String {
        let known = [
            "/usr/lib/apache2/modules", "/usr/lib64/httpd/modules", "/usr/lib/httpd/modules",
            "/usr/libexec/apache2",
        ]
        let found = known.first { FileManager.default.fileExists(atPath: $0) }
        guard let found else { throw Program.Missing(tool: "the modules of apache2") }
        return found
    }

    private static func configuration(
        _ folder: String, _ ports: (UInt16, UInt16), _ proxyLogin: ProxyLogin?,
        _ identity: TestCertificates.Identity?
    ) throws -> String {
        let names = [
            "mpm_event", "unixd", "authn_core", "authn_file", "authz_core", "authz_user",
            "auth_basic", "auth_digest", "dav", "dav_fs", "dir", "alias", "log_config",
            "proxy", "proxy_http", "proxy_connect", "ssl", "rewrite", "headers",
        ]
        let modules = try modulesFolder()
        // Some modules are built into the program, depending on the distribution.
        let loads = names.filter {
            FileManager.default.fileExists(atPath: "\(modules)/mod_\($0).so")
        }.map { "LoadModule \($0)_module \(modules)/mod_\($0).so\n" }.joined()
        let isRoot = geteuid() == 0
        let login =
            proxyLogin.map { self.login(folder, $0.rawValue, $0.rawValue.lowercased()) }
            ?? "Require all granted"
        return """
            \(loads)ServerName localhost
            Listen 127.0.0.1:\(ports.0)
            Listen 127.0.0.1:\(ports.1)
            PidFile \(folder)/pid
            ErrorLog \(folder)/error
            Mutex file:\(folder)/temp default
            DefaultRuntimeDir \(folder)/temp
            LogFormat "%r %>s %{Host}i" test
            CustomLog \(folder)/log test
            DocumentRoot \(folder)/www
            DavLockDB \(folder)/temp/locks
            KeepAliveTimeout 60
            MaxKeepAliveRequests 0
            \(isRoot ? "User #65534\nGroup #65534" : "")
            \(wall)Alias /wall \(folder)/www
            Alias /basic \(folder)/www
            Alias /digest \(folder)/www
            <Directory \(folder)/www>
            Require all granted
            </Directory>
            <Location /dav>
            Dav On
            </Location>
            <Location /basic>
            \(self.login(folder, "Basic", "basic"))
            </Location>
            <Location /digest>
            \(self.login(folder, "Digest", "digest"))
            </Location>
            <VirtualHost 127.0.0.1:\(ports.1)>
            \(tls(identity))ProxyRequests On
            ProxyVia On
            AllowCONNECT 0-65535
            <Proxy *>
            \(login)
            </Proxy>
            </VirtualHost>

            """
    }

    /// A redirect to the same target for each missing cookie.
    private static var wall: String {
        "RewriteEngine On\n"
            + ["consent", "session"].map { name in
                """
                RewriteCond %{REQUEST_URI} ^/wall/
                RewriteCond %{HTTP_COOKIE} !\(name)=
                RewriteRule ^ %{REQUEST_URI} [R=302,L,E=\(name):1]
                Header always add Set-Cookie "\(name)=1; Path=/wall" env=\(name)

                """
            }.joined()
    }

    private static func tls(_ identity: TestCertificates.Identity?) -> String {
        guard let identity else { return "" }
        return """
            SSLEngine on
            SSLCertificateFile \(identity.certificate)
            SSLCertificateKeyFile \(identity.key)

            """
    }

    private static func login(_ folder: String, _ type: String, _ file: String) -> String {
        """
        AuthType \(type)
        AuthName tests
        Auth\(type)Provider file
        AuthUserFile \(folder)/\(file)
        Require valid-user
        """
    }
}
