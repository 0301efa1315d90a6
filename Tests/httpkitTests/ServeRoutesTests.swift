import Testing

@testable import httpkit

@Suite("httpkit serve: paths of handlers")
struct ServeRoutesTests {
    @Test(
        "A route is as deep as the segments before its first parameter",
        arguments: [
            ("/echo", ["echo"]), ("/a/b/", ["a", "b"]), ("/", []), ("/*", []),
            ("/a/:name/b", ["a"]), ("/a/b/*", ["a", "b"]),
        ] as [(String, [String])])
    func depth(_ route: String, _ segments: [String]) {
        #expect(ServeRoutes.literalSegments(of: route).map(String.init) == segments)
    }

    @Test(
        "A route with parameters takes a part of a mount, one that ends in an asterisk all of it",
        arguments: [
            ("/*", []), ("/", []), ("/a/*", ["a"]), ("/:x/deep", [":x", "deep"]),
            ("/a/:x/*", ["a", ":x"]),
        ] as [(String, [String])])
    func covered(_ route: String, _ segments: [String]) {
        #expect(ServeRoutes.coveredSegments(of: route).map(String.init) == segments)
    }
}
