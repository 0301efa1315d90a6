import Testing

@testable import httpkit

@Suite("httpkit fetch: progress")
struct ProgressLineTests {
    @Test("The line has a bar, the percentage, the rate and the remaining time")
    func known() {
        let half = ProgressLine(received: 50 << 20, toReceive: 100 << 20)
        #expect(
            half.text(elapsed: .seconds(10))
                == "[############------------] 50 %  50.0 MiB of 100.0 MiB  5.0 MiB/s  00:10")
        let done = ProgressLine(received: 100, toReceive: 100)
        #expect(
            done.text(elapsed: .seconds(1)).hasPrefix(
                "[########################] 100 %"))
        let start = ProgressLine(received: 0, toReceive: 100)
        #expect(start.text(elapsed: .zero).hasSuffix("0 B/s  --:--"))
    }

    @Test("Rate and remaining time do not count the part that was already there")
    func resumed() {
        let line = ProgressLine(received: 60 << 20, newlyReceived: 10 << 20, toReceive: 100 << 20)
        #expect(
            line.text(elapsed: .seconds(10))
                == "[##############----------] 60 %  60.0 MiB of 100.0 MiB  1.0 MiB/s  00:40")
        let start = ProgressLine(received: 50, newlyReceived: 0, toReceive: 100)
        #expect(start.text(elapsed: .seconds(1)).hasSuffix("  50 B of 100 B  0 B/s  --:--"))
    }

    @Test("Without a length there is no bar")
    func unknown() {
        #expect(
            ProgressLine(received: 3 << 10).text(elapsed: .seconds(2))
                == "3.0 KiB  1.5 KiB/s")
    }

    @Test("Sent bytes are shown while nothing is received")
    func sending() {
        let line = ProgressLine(sent: 25, toSend: 100).text(elapsed: .seconds(1))
        #expect(line.contains(" 25 %  25 B of 100 B  25 B/s  00:03"))
    }

    @Test(
        "Remaining times are shown as hours, minutes and seconds",
        arguments: [
            (0.2, "00:01"), (61, "01:01"), (3600, "1:00:00"), (359_999, "99:59:59"),
            (360_000, "--:--"), (Double.infinity, "--:--"),
        ] as [(Double, String)])
    func times(seconds: Double, text: String) {
        #expect(ProgressLine.time(seconds) == text)
    }
}
