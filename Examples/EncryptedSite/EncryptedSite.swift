// EncryptedSite: the files of the folder `site` over TLS, with the certificate in site.pem and its key
// in site.key. Both stay outside of the folder that is served.
//
//   openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost \
//       -addext subjectAltName=DNS:localhost -keyout site.key -out site.pem
//   mkdir -p site
//   swift run --package-path Examples EncryptedSite
//   curl --cacert site.pem https://localhost:8443/

import HTTPServerTLS
import HTTPServerToolkit

@main
struct EncryptedSite {
    static func main() async throws {
        let tls = try TLSContext(
            TLSConfiguration(certificates: [.files(chain: "site.pem", key: "site.key")]))
        var configuration = ServerConfiguration(host: "*", port: 8443)
        configuration.secure(by: tls)
        try await HTTPServer(configuration, handler: FileHandler(root: "site")).run()
    }
}
