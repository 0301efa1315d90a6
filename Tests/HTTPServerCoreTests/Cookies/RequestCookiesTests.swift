import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("RFC 6265, 4.2: Cookies of a request")
struct RequestCookiesTests {
    /// A Cookie field, and its cookies as `name|value`.
    private static let fields: [(field: String, cookies: [String])] = [
        ("a=1", ["a|1"]),
        ("a=1; b=2;c=3 ;d = 4", ["a|1", "b|2", "c|3", "d|4"]),
        ("a=\"1\"; b=\"", ["a|1", "b|\""]),
        ("a=b=c; =d; e; ;", ["a|b=c", "|d", "|e"]),
        ("a=1; a=2", ["a|1", "a|2"]),
        ("", []),
    ]

    @Test("A Cookie field is split into names and values", arguments: fields)
    func pairs(_ field: String, _ cookies: [String]) async throws {
        let client = MemoryConnection(
            SyncHandler { request in
                .text(request.cookies.map { "\($0.name)|\($0.value)" }.joined(separator: " "))
            })
        client.send(Sample.get("/", "Cookie: \(field)\r\n"))
        try await client.output(Sample.ok(cookies.joined(separator: " ")))
    }

    @Test(
        "The first cookie of a name in all fields is found, and names are compared as bytes")
    func byName() async throws {
        let client = MemoryConnection(
            SyncHandler { request in
                let cookies = request.cookies
                return .text(
                    "\(cookies["a"] ?? "-") \(cookies["b"] ?? "-") \(cookies["A"] ?? "-") "
                        + (cookies["e\u{301}"] ?? "-"))
            })
        client.send(
            Sample.get("/", "Cookie: a=1; a=2; \u{e9}=3\r\nCookie: b=4\r\n"))
        try await client.output(Sample.ok("1 4 - -"))
    }
}
