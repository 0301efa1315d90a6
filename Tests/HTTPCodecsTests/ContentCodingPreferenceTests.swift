import HTTPCodecs
import HTTPParser
import Testing

@Suite("RFC 9110, 12.5.3: Accept-Encoding")
struct ContentCodingPreferenceTests {
    @Test(
        "The best of gzip and deflate is selected, with gzip offered first",
        arguments: [
            // The examples of the section.
            ("compress, gzip", .gzip), ("", .identity), ("*", .gzip),
            ("compress;q=0.5, gzip;q=1.0", .gzip),
            ("gzip;q=1.0, identity; q=0.5, *;q=0", .gzip),
            // Values that browsers and programs send.
            ("gzip, deflate, br, zstd", .gzip), ("deflate, gzip", .gzip), ("GZIP", .gzip),
            ("identity", .identity), ("identity;q=1, *;q=0", .identity), ("br", .identity),
            ("x-gzip", .gzip), ("gzip;q=0.5, deflate;q=0.6", .deflate),
            ("gzip;q=0, deflate", .deflate), ("gzip;q=0", .identity),
            ("gzip;q=0.5, identity;q=0.6", .identity), ("gzip;q=0.001", .gzip),
            ("gzip;q=0.5, *;q=0.4", .gzip), ("gzip;q=0.4, *;q=0.5", .deflate),
            ("gzip;Q=0.5,deflate;q=1", .deflate), (" ,, gzip ; q=0.3 ,", .gzip),
            ("gzip;q=0, gzip;q=1", .identity),
            ("*;q=0", nil), ("identity;q=0", nil), ("br, *;q=0", nil),
            ("identity;q=0, deflate;q=0.1", .deflate), ("*;q=0, gzip;q=0.2", .gzip),
        ] as [(String, ContentCoding?)])
    func best(fieldValue: String, coding: ContentCoding?) throws {
        let preference = try #require(ContentCodingPreference(fieldValue))
        #expect(preference.best(of: [.gzip, .deflate]) == coding)
    }

    @Test(
        "Identity is acceptable unless it is forbidden",
        arguments: [
            ("", true), ("gzip", true), ("*;q=0.1", true), ("identity;q=0.001", true),
            ("*;q=0, identity;q=0.5", true), ("identity;q=0", false), ("*;q=0", false),
            ("gzip, *;q=0", false), ("*, identity;q=0", false),
        ])
    func identity(fieldValue: String, isAccepted: Bool) {
        #expect(ContentCodingPreference(fieldValue)?.acceptsIdentity == isAccepted)
    }

    @Test("Weights are in thousandths")
    func weights() throws {
        let preference = try #require(ContentCodingPreference("gzip;q=0.123, *;q=0.9, identity"))
        #expect(preference.weight(of: .gzip) == 123)
        #expect(preference.weight(of: .deflate) == 900)
        #expect(preference.weight(of: .identity) == 1_000)
        #expect(ContentCodingPreference.absent.weight(of: .gzip) == 0)
        #expect(ContentCodingPreference.absent.weight(of: .identity) == 1)
    }

    @Test("Of codings with equal weights, the first one offered is selected")
    func order() {
        let preference = ContentCodingPreference("*")
        #expect(preference?.best(of: [.identity, .gzip]) == .identity)
        #expect(preference?.best(of: [.deflate, .gzip]) == .deflate)
        #expect(preference?.best(of: []) == .identity)
    }

    @Test(
        "Malformed values are refused",
        arguments: [
            "gzip deflate", "gzip;q=2", "gzip;q=0.1234", "gzip;q=-1", "gzip;q=", "gzip;q",
            "gzip;level=9", "gzip;q=0.5;x=1", ";q=1", "gzip/x", "\"gzip\"", "gzip;q=\"1\"",
            "gzip;q = 1", "gzip,\u{0}",
        ])
    func refusal(fieldValue: String) {
        #expect(ContentCodingPreference(fieldValue) == nil)
    }

    @Test("Several fields are one list; without a field, or with a malformed one, it is absent")
    func fields() {
        var fields = HTTPFields()
        #expect(ContentCodingPreference(fields: fields) == .absent)
        #expect(ContentCodingPreference.absent.best(of: [.gzip]) == .identity)
        fields.append(.acceptEncoding, "gzip;q=0.5")
        #expect(ContentCodingPreference(fields: fields).best(of: [.gzip]) == .gzip)
        fields.append(.acceptEncoding, "identity")
        #expect(ContentCodingPreference(fields: fields).best(of: [.gzip]) == .identity)
        fields.append(.acceptEncoding, "a b")
        #expect(ContentCodingPreference(fields: fields) == .absent)
    }
}
