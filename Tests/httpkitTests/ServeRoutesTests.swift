import Testing

@testable import httpkit

@Suite("httpkit serve: paths of handlers")
struct ServeRoutesTests {
    @Test(
        "The literal segments of a route are those before its first parameter",
        arguments: [
            ("/echo", ["echo"]), ("/a/b/", ["a", "b"]), ("/", []), ("/*", []),
            ("/a/:name/b", ["a"]), ("/a/b/*", ["a", "b"]),
        ] as [(String, [String])])
    func depth(_ route: String, _ segments: [String]) {
        #expect(ServeRoutes.literalSegments(of: route).map(String.init) == segments)
    }

    @Test(
        "The covered segments of a route are all segments, parameters too, but no final asterisk",
        arguments: [
            ("/*", []), ("/", []), ("/a/*", ["a"]), ("/:x/deep", [":x", "deep"]),
            ("/a/:x/*", ["a", ":x"]),
        ] as [(String, [String])])
    func covered(_ route: String, _ segments: [String]) {
        #expect(ServeRoutes.coveredSegments(of: route).map(String.init) == segments)
    }
}
