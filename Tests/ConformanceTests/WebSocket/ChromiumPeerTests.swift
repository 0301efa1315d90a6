import Foundation
import TestSupport
import Testing

@Suite(
    "WebSockets with Chromium", .fewAtOnce, .timeLimit(.minutes(6)),
    .enabled(if: FullSuite.isOn, "make test-all"))
struct ChromiumPeerTests {
    /// Opens WebSockets in a page, and prints JSON.
    private static let program = #"""
        // node talk.mjs PROGRAM ADDRESS
        import { Browser } from "./chrome.mjs";

        const [program, address] = process.argv.slice(2);
        const browser = new Browser(program);
        const page = await browser.open();
        const result = await page.get(`(async () => {
            const socket = new WebSocket("${address}");
            socket.binaryType = "arraybuffer";
            await new Promise((done, fail) => { socket.onopen = done; socket.onerror = fail; });
            const messages = ["", "Grüße", "ab".repeat(500000), new Uint8Array(125),
                crypto.getRandomValues(new Uint8Array(65536))];
            let same = 0;
            const all = new Promise((done) => {
                socket.onmessage = (event) => {
                    const sent = messages[same];
                    const isSame = typeof sent === "string" ? event.data === sent
                        : event.data.byteLength === sent.length
                            && new Uint8Array(event.data).every((byte, index) => byte === sent[index]);
                    if (!isSame) done();
                    if (isSame && ++same === messages.length) done();
                };
            });
            for (const message of messages) socket.send(message);
            await all;
            const end = new Promise((done) => { socket.onclose = done; });
            socket.close(4001, "done");
            const { code, reason, wasClean } = await end;
            return { same, code, reason, wasClean, extensions: socket.extensions };
        })()`);
        await browser.end();
        console.log(JSON.stringify({ ...result, faults: page.faults }));
        """#

    private struct Outcome: Decodable {
        var same: Int
        var code: Int
        var reason: String
        var wasClean: Bool
        var extensions: String
        var faults: [String]
    }

    @Test("Chromium receives its messages, compressed, and the close handshake is clean")
    func echoes() async throws {
        let folder = try Folder()
        try folder.write(ChromeDriver.module, to: "chrome.mjs")
        try folder.write(Self.program, to: "talk.mjs")
        let server = try await BinProcess()
        let address =
            server.base.replacingOccurrences(of: "http:", with: "ws:") + "/websocket/echo"
        let result = try await Program.run(
            try Program.find("node"),
            [folder.file("talk.mjs").path, try Browser().program, address],
            limit: .seconds(300))
        let outcome = try JSONDecoder().decode(Outcome.self, from: Data(result.text.utf8))
        #expect(outcome.same == 5)
        // The server responds only with the code.
        #expect(outcome.code == 4001 && outcome.reason.isEmpty && outcome.wasClean)
        #expect(outcome.extensions.hasPrefix("permessage-deflate"))
        #expect(outcome.faults == [])
    }
}
