// EncryptedSite: the files of this folder over TLS, with the certificate in site.pem and its key in
// site.key.
//
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
        try await HTTPServer(configuration, handler: FileHandler(root: ".")).run()
    }
}
