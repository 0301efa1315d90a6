import HTTPCodecs
import Testing

@Suite("Media types worth compressing")
struct MediaTypeCompressionTests {
    @Test(
        "Types of text and other uncompressed types are compressible",
        arguments: [
            "text/plain", "text/html; charset=utf-8", "TEXT/CSS", "text/javascript;charset=UTF-8",
            "application/json", "Application/JSON ; a=b", "application/ld+json", "image/svg+xml",
            "application/xml", "application/atom+xml", "application/javascript",
            "application/wasm", "application/x-ndjson", "application/manifest+json", "font/ttf",
            "application/vnd.ms-fontobject", "image/bmp", "message/rfc822", "application/yaml",
            "model/gltf+json", "application/vnd.apple.mpegurl", "application/a+YAML",
        ])
    func worthIt(type: String) throws {
        #expect(MediaType.isCompressible(contentType: type))
        #expect(try #require(MediaType(type)).isCompressible)
    }

    @Test(
        "Compressed and unknown types are not compressible",
        arguments: [
            "image/png", "image/jpeg", "video/mp4", "audio/mpeg", "application/zip", "font/woff2",
            "application/gzip", "application/octet-stream", "application/pdf", "font/woff",
            "application/epub+zip", #"multipart/mixed; boundary="text/plain""#, "image/webp",
            "application/jsonx", "application/xjson", "textual/plain", "application/x",
            "application/vnd.oasis.opendocument.text", "application/a+jsonb",
        ])
    func notWorthIt(type: String) throws {
        #expect(!MediaType.isCompressible(contentType: type))
        #expect(try !#require(MediaType(type)).isCompressible)
    }

    @Test(
        "Invalid media types are not compressible",
        arguments: ["", "/", "text", "text/", " text/plain", "json", "+json", "text\\plain", ";"])
    func malformed(type: String) {
        #expect(!MediaType.isCompressible(contentType: type))
    }

    @Test(
        "The suffix of a type and whether it is JSON or XML are known",
        arguments: [
            ("application/json", nil, true, false), ("text/json", nil, true, false),
            ("application/problem+json; charset=utf-8", "json", true, false),
            ("application/atom+xml", "xml", false, true), ("text/xml", nil, false, true),
            ("application/a+b+xml", "xml", false, true), ("text/html", nil, false, false),
            ("application/jsonp", nil, false, false), ("application/a+", "", false, false),
        ] as [(String, String?, Bool, Bool)])
    func families(text: String, suffix: String?, isJSON: Bool, isXML: Bool) throws {
        let type = try #require(MediaType(text))
        #expect(type.structuredSuffix == suffix)
        #expect(type.isJSON == isJSON)
        #expect(type.isXML == isXML)
    }
}
