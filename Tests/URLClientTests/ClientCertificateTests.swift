import Foundation
import HTTPParser
import TestSupport
import Testing
import URLClient

@Suite("RFC 8446, 4.3.2: client certificates", .timeLimit(.minutes(2)))
struct ClientCertificateTests {
    private struct Setup {
        let certificates: TestCertificates
        let server: PeerServer
        let identity: TestCertificates.Identity

        init() async throws {
            certificates = try await TestCertificates()
            identity = try await certificates.identity(for: "ada")
            let more = """
                location = /other { return 302 https://127.0.0.2:$server_port/who; }
                location = /mine {
                    add_header Cache-Control "private, max-age=600" always;
                    return 200 "of $ssl_client_s_dn";
                }

                """
            server = try await PeerServer.nginx(
                .init(
                    at: "127.0.0.1", identity: try await certificates.identity(for: "127.0.0.1"),
                    clientAuthority: certificates.authority.certificate, more: more),
                .init(
                    at: "127.0.0.2", identity: try await certificates.identity(for: "127.0.0.2"),
                    more: "ssl_client_certificate \(certificates.authority.certificate);\n"
                        + "ssl_verify_client optional;\n"))
        }

        func request(_ path: String, _ change: (inout TLSOptions) -> Void) -> ClientRequest {
            var options = TLSOptions(authorities: .file(certificates.authority.certificate))
            change(&options)
            var request = ClientRequest(.get, server.url(path, scheme: "https"))
            request.tls = options
            return request
        }
    }

    @Test("A certificate is sent from files and from bytes; without one the response is 400")
    func shown() async throws {
        let setup = try await Setup()
        let identity = setup.identity
        let pem = try (
            Array(Data(contentsOf: URL(fileURLWithPath: identity.certificate))),
            Array(Data(contentsOf: URL(fileURLWithPath: identity.key)))
        )
        let shown: [TLSOptions.ClientCertificate] = [
            .init(certificate: .file(identity.certificate), key: .file(identity.key)),
            .init(certificate: .pem(pem.0), key: .pem(pem.1)),
        ]
        for certificate in shown {
            let request = setup.request("/who") { $0.clientCertificate = certificate }
            let (content, response) = try await ClientSession().data(for: request)
            #expect(response.status == .ok)
            #expect(String(decoding: content, as: UTF8.self).contains("client=CN=ada\n"))
        }
        let (_, refused) = try await ClientSession().data(for: setup.request("/who") { _ in })
        #expect(refused.status == .badRequest)
    }

    @Test("Requests with and without a certificate share no connection")
    func separate() async throws {
        let setup = try await Setup()
        let session = ClientSession()
        let certificate = TLSOptions.ClientCertificate(
            certificate: .file(setup.identity.certificate), key: .file(setup.identity.key))
        let known = setup.request("/who") { $0.clientCertificate = certificate }
        #expect(try await session.data(for: known).1.status == .ok)
        let unknown = setup.request("/who") { _ in }
        #expect(try await session.data(for: unknown).1.status == .badRequest)
        #expect(try await session.data(for: known).1.status == .ok)
    }

    @Test("A response stored for one certificate is not used with another one or without one")
    func stored() async throws {
        let setup = try await Setup()
        let session = ClientSession(.ephemeral)
        var certificates: [TLSOptions.ClientCertificate?] = [nil]
        for identity in [setup.identity, try await setup.certificates.identity(for: "bob")] {
            certificates.append(
                .init(certificate: .file(identity.certificate), key: .file(identity.key)))
        }
        for isStored in [false, true] {
            for (certificate, text) in zip(certificates, [nil, "of CN=ada", "of CN=bob"]) {
                let request = setup.request("/mine") { $0.clientCertificate = certificate }
                let (content, response) = try await session.data(for: request)
                #expect(response.isFromCache == (isStored && text != nil), "\(text ?? "none")")
                guard let text else {
                    #expect(response.status == .badRequest)
                    continue
                }
                #expect(String(decoding: content, as: UTF8.self) == text)
            }
        }
    }

    @Test("The certificate is not sent to another origin after a redirect")
    func redirect() async throws {
        let setup = try await Setup()
        let certificate = TLSOptions.ClientCertificate(
            certificate: .file(setup.identity.certificate), key: .file(setup.identity.key))
        let request = setup.request("/other") { $0.clientCertificate = certificate }
        let (content, response) = try await ClientSession().data(for: request)
        #expect(response.status == .ok && response.url.host() == "127.0.0.2")
        #expect(String(decoding: content, as: UTF8.self).contains("client=\n"))
    }

    @Test("A key that does not match, or a missing certificate file, is an error")
    func bad() async throws {
        let setup = try await Setup()
        let other = try await setup.certificates.identity(for: "other")
        let cases: [TLSOptions.ClientCertificate] = [
            .init(certificate: .file(setup.identity.certificate), key: .file(other.key)),
            .init(certificate: .file("/nonexistent"), key: .file(other.key)),
        ]
        for certificate in cases {
            let request = setup.request("/who") { $0.clientCertificate = certificate }
            let error = await failure { try await ClientSession().data(for: request) }
            #expect(error?.kind == .badClientCertificate, "\(error?.description ?? "-")")
            #expect(error?.urlErrorCode == -1205 && error?.exitCode == 58)
        }
    }
}
