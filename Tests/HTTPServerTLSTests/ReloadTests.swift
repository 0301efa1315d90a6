import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@testable import HTTPServerTLS

@Suite("Reloading certificates and ticket keys", .timeLimit(.minutes(3)))
struct ReloadTests {
    private let folder: ServerDirectory

    init() throws { folder = try ServerDirectory() }

    private var files: TLSConfiguration {
        TLSConfiguration(certificates: [
            .files(chain: folder.path("a.pem"), key: folder.path("a.key"))
        ])
    }

    private func write(_ certificate: MadeCertificate) throws {
        try folder.write("a.pem", certificate.text)
        try folder.write("a.key", certificate.keyText)
    }

    private func writeTicketKeys(_ byte: UInt8) throws {
        try folder.write("tickets", [UInt8](repeating: byte, count: TicketKeys.keyLength))
    }

    private func shownName(_ context: TLSContext) throws -> String? {
        let pair = TLSPair(context)
        try pair.shakeHands()
        return pair.client.serverName
    }

    /// Whether the second context knows the keys of the first context's tickets.
    private func resumes(_ one: TLSContext, _ other: TLSContext) throws -> Bool {
        let first = TLSPair(one, TLSClient(version: TLSClient.tls12))
        try first.shakeHands()
        // The client reads a response, and with it the ticket.
        _ = first.send([1])
        _ = first.readByClient()
        let session = try #require(first.client.session)
        let second = TLSPair(other, TLSClient(version: TLSClient.tls12, session: session))
        try second.shakeHands()
        return second.client.isResumed
    }

    @Test("New ticket keys are loaded although a certificate cannot be used")
    func keysAlone() throws {
        try write(try MadeCertificate.common.get())
        try writeTicketKeys(1)
        var configuration = files
        configuration.ticketKeyFile = folder.path("tickets")
        let context = try TLSContext(configuration)
        try writeTicketKeys(2)
        let other = try TLSContext.test { $0.ticketKeyFile = folder.path("tickets") }
        #expect(try !resumes(context, other))
        try folder.write("a.key", "words")
        let lines = LogLines()
        #expect(!context.reload(lines.logger))
        #expect(lines.all.count == 1)
        #expect(lines.all.first?.hasPrefix("error certificates stay as they are: ") == true)
        #expect(try resumes(context, other))
    }

    @Test("New certificates are loaded although the ticket keys cannot be used")
    func certificatesAlone() throws {
        let (old, new) = (try SecureServer.leaf("old.test"), try SecureServer.leaf("new.test"))
        try write(old)
        try writeTicketKeys(1)
        var configuration = files
        configuration.ticketKeyFile = folder.path("tickets")
        let context = try TLSContext(configuration)
        let stamps = context.loadedStamps
        try write(new)
        try folder.write("tickets", "short")
        let lines = LogLines()
        #expect(!context.reload(lines.logger))
        #expect(
            lines.all == [
                "error ticket keys stay as they are: \(folder.path("tickets")): the file cannot be "
                    + "used: expected keys of 80 bytes each, found 5 bytes"
            ])
        #expect(try shownName(context) == "new.test")
        // `reloadOnChanges` can see that not all files are in use.
        #expect(context.loadedStamps == stamps)
        try writeTicketKeys(2)
        try context.reload()
        #expect(context.loadedStamps == TLSContext.stamps(of: configuration))
    }

    @Test("An earlier reload does not replace the certificates of a later one")
    func atOnce() async throws {
        let certificates = [try SecureServer.leaf("a.test"), try SecureServer.leaf("b.test")]
        try write(certificates[0])
        let context = try TLSContext(files)
        let others = Task {
            while !Task.isCancelled {
                // It may read one of the new files and one of the old files.
                _ = try? context.reload()
                await Task.yield()
            }
        }
        defer { others.cancel() }
        for round in 1...40 {
            try write(certificates[round % 2])
            try context.reload()
            let expected = round % 2 == 0 ? "a.test" : "b.test"
            #expect(try shownName(context) == expected)
            await Task.yield()
        }
        others.cancel()
        await others.value
        #expect(try shownName(context) == "a.test")
    }

    @Test("A suspended or stopped server reloads its certificates")
    func notListening() async throws {
        let (old, new) = (try SecureServer.leaf("old.test"), try SecureServer.leaf("new.test"))
        try write(old)
        let context = try TLSContext(files)
        var configuration = ServerConfiguration(endpoints: [.tcp(host: "127.0.0.1", port: 0)])
        configuration.secure(by: context)
        let server = HTTPServer(configuration, handler: SecureServer.facts)
        try await server.start()
        await server.suspend(connections: .close)
        try write(new)
        try await server.reloadCertificates()
        #expect(try shownName(context) == "new.test")
        try await server.resume()
        await server.shutdown(grace: .zero)
        try write(old)
        try await server.reloadCertificates()
        #expect(try shownName(context) == "old.test")
    }
}
