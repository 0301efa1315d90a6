import Testing

@testable import httpkit

@Suite("Byte counts on the command line")
struct ByteCountTests {
    @Test(
        "K, M, G and T are powers of 1,024, and kB, MB, GB and TB are powers of 1,000",
        arguments: [
            ("0", 0), ("1000", 1_000), ("7B", 7), ("1k", 1_024), ("1K", 1_024), ("2KiB", 2_048),
            ("2kB", 2_000), ("100M", 100 << 20), ("5G", 5 << 30), ("5gib", 5 << 30),
            ("5GB", 5_000_000_000), ("1T", 1 << 40), ("8388607T", 8_388_607 << 40),
        ] as [(String, Int64)])
    func values(_ text: String, _ bytes: Int64) {
        #expect(ByteCount(argument: text)?.bytes == bytes)
    }

    @Test(
        "Other texts are not byte counts",
        arguments: ["", "-1", "+1", "1.5G", "G", "1X", "1KK", "1iB", "1 K", "8388608T", "٣"])
    func none(_ text: String) {
        #expect(ByteCount(argument: text) == nil)
    }
}
