import Foundation
import TestSupport
import Testing

/// Programs that search for weaknesses of TLS servers.
@Suite(
    "httpkit serve over TLS, checked by scanners", .serialized, .fewAtOnce,
    .enabled(if: FullSuite.isOn, "make test-all"), .timeLimit(.minutes(10)))
struct TLSScannerTests {
    private let tls: TestTLS
    private let folder: Folder

    init() throws {
        (tls, folder) = (try TestTLS(), try Folder())
        try folder.write("content\n", to: "file")
    }

    private func serve() async throws -> ServeProcess {
        try await ServeProcess(folder, tls.serverFlags + ["--hsts", "31536000"])
    }

    private struct Finding: Decodable {
        var id: String
        var severity: String
        var finding: String
    }

    /// The findings of testssl.sh above LOW that are no weaknesses of the server.
    private static let allowed = [
        // The authority of the test has neither lists of revoked certificates nor a responder.
        "cert_revocation",
        // The scanner reports every server with compression. Files and listings are compressed, and
        // contain no secret; the upload page contains one, but is not compressed, nor is WebDAV
        // (`UploaderServeTests`).
        "BREACH",
        // This machine's OpenSSL has no GOST.
        "engine_problem",
    ]

    @Test("testssl.sh finds nothing above LOW")
    func testssl() async throws {
        let server = try await serve()
        let report = folder.path + "/report.json"
        let result = try await Program.run(
            try Program.find("testssl", "testssl.sh"),
            [
                "--quiet", "--color", "0", "--warnings", "batch", "--nodns", "min", "--jsonfile",
                report, "--add-ca", tls.authority, "--ip", "127.0.0.1",
                "https://localhost:\(server.port)/",
            ], limit: .seconds(500))
        let findings = try JSONDecoder().decode(
            [Finding].self, from: Data(Folder.bytes(at: report)))
        let harmless = ["OK", "INFO", "LOW"]
        for finding in findings where !harmless.contains(finding.severity) {
            // Its client may end before the ticket arrives, and then has no session to resume.
            // `PeerTests` and `TicketKeysTests` check that sessions are resumed.
            let hasNoTicket =
                finding.id == "sessionresumption_ticket" && finding.severity == "WARN"
                && finding.finding == "check failed because of connect problem"
            #expect(hasNoTicket || Self.allowed.contains(finding.id), "\(finding)")
        }
        // The scanner has checked these.
        for (id, words) in [
            ("SSLv3", "not offered"), ("TLS1", "not offered"), ("TLS1_1", "not offered"),
            ("TLS1_2", "offered"), ("TLS1_3", "offered with final"), ("heartbleed", "not vuln"),
            ("secure_client_renego", "not vuln"), ("CRIME_TLS", "not vuln"),
            ("cert_chain_of_trust", "passed"), ("HSTS_time", "365 days"),
        ] {
            let found = findings.first { $0.id == id }?.finding
            #expect(found?.contains(words) == true, "\(id): \(found ?? "-"), \(result.status)")
        }
    }

    private struct Scan: Decodable {
        struct Server: Decodable { var scan_result: Results }
        struct Part<Value: Decodable>: Decodable { var result: Value? }
        struct Results: Decodable {
            var tls_1_3_early_data: Part<EarlyData>
            var session_resumption: Part<Resumption>
            var session_renegotiation: Part<Renegotiation>
        }
        struct EarlyData: Decodable { var supports_early_data: Bool }
        struct Resumption: Decodable { var tls_ticket_resumption_result: String }
        struct Renegotiation: Decodable { var is_vulnerable_to_client_renegotiation_dos: Bool }
        var server_scan_results: [Server]
    }

    @Test("sslyze finds Mozilla's intermediate settings, no early data, and session resumption")
    func sslyze() async throws {
        let server = try await serve()
        let report = folder.path + "/report.json"
        let result = try await Program.run(
            try await Program.python(having: "sslyze"),
            [
                "-m", "sslyze", "--certinfo_ca_file", tls.authority, "--mozilla_config",
                "intermediate", "--early_data", "--resum", "--json_out", report,
                "localhost:\(server.port)",
            ], limit: .seconds(500))
        #expect(result.status == 0, "\(result.text)\(result.complaints)")
        #expect(result.text.contains("OK - Compliant"), "\(result.text)")
        let scan = try JSONDecoder().decode(Scan.self, from: Data(Folder.bytes(at: report)))
        let found = try #require(scan.server_scan_results.first?.scan_result)
        #expect(found.tls_1_3_early_data.result?.supports_early_data == false)
        #expect(found.session_resumption.result?.tls_ticket_resumption_result == "FULLY_SUPPORTED")
        let renegotiation = found.session_renegotiation.result
        #expect(renegotiation?.is_vulnerable_to_client_renegotiation_dos == false)
    }

    @Test("Chromium accepts the certificate after certutil has added the authority")
    func chromium() async throws {
        try folder.write(
            "<p>secure: <script>document.write(isSecureContext)</script>", to: "a.html")
        let server = try await serve()
        let home = try Folder()
        let url = "https://localhost:\(server.port)/a.html"
        let before = try await Browser().run("--dump-dom", url, environment: ["HOME": home.path])
        #expect(!before.text.contains("secure: "))
        let script = """
            mkdir -p "$0/.pki/nssdb" && certutil -d "sql:$0/.pki/nssdb" -N --empty-password &&
                certutil -d "sql:$0/.pki/nssdb" -A -t C,, -n tests -i "$1"
            """
        _ = try Program.find("certutil")
        let made = try await Program.run("sh", ["-c", script, home.path, tls.authority])
        #expect(made.status == 0, "\(made.complaints)")
        let after = try await Browser().run("--dump-dom", url, environment: ["HOME": home.path])
        #expect(after.text.contains("secure: <script>"), "\(after.text)\(after.complaints)")
        #expect(after.text.contains("</script>true"), "\(after.text)")
    }
}
