import HTTPParser
import Testing
import URLClient

@Suite("RFC 6265bis, 5.1.1: Dates of cookies")
struct CookieDateTests {
    private func expiry(_ text: String) -> Int64? {
        var jar = CookieJar(suffixes: TopLevelDomains())
        let context = CookieContext(origin: Origin(scheme: "http", host: "h.example"), path: "/")
        let now = HTTPDate(secondsSinceEpoch: 784_111_000)
        jar.receive("a=b; expires=\(text)", from: context, policy: .always, now: now)
        return jar.cookies.first?.expiry?.secondsSinceEpoch
    }

    @Test(
        "A date is read from time, day, month and year in any order",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994", "6 november 1994 8:49:37", "1994 6 Nov 08:49:37",
            "08:49:37 nov 06 94", "Sun, 06-Nov-1994 08:49:37 UTC", "06 Nov 1994 08:49:37x y",
            "(06/Nov/1994)08:49:37", "6x Nov 1994y 8:49:37", "Mon Nov 6 08:49:37 1994 +0200",
        ])
    func accepted(_ text: String) {
        #expect(expiry(text) == 784_111_777)
    }

    @Test(
        "A cookie with an invalid date is a session cookie",
        arguments: [
            "", "Nov 1994 08:49:37", "06 1994 08:49:37", "06 Nov 08:49:37", "06 Nov 1994",
            "06 Nov 1994 08:49", "06 Nov 1994 24:00:00", "06 Nov 1994 08:60:37",
            "06 Nov 1994 08:49:60", "32 Nov 1994 08:49:37", "31 Nov 1994 08:49:37",
            "29 Feb 1995 08:49:37", "06 Nov 1600 08:49:37", "06 Nov 19945 08:49:37",
            "006 Nov 1994 08:49:37", "06 No 1994 08:49:37", "06 Nov 1994 :49:37",
            "06 Nov 1994 008:49:37", "tomorrow", "0 Nov 1994 08:49:37",
        ])
    func refused(_ text: String) {
        #expect(expiry(text) == nil)
    }

    @Test("Years of two digits: 70 to 99 mean 1970 to 1999, and 00 to 69 mean 2000 to 2069")
    func century() {
        let context = CookieContext(origin: Origin(scheme: "http", host: "h.example"), path: "/")
        let start = HTTPDate(secondsSinceEpoch: 0)
        for (year, kept) in [("69", true), ("00", true), ("70", true), ("1969", false)] {
            var jar = CookieJar(suffixes: TopLevelDomains())
            jar.receive(
                "a=b; expires=2 Jan \(year) 00:00:00", from: context, policy: .always, now: start)
            #expect((jar.count == 1) == kept)
        }
    }
}
