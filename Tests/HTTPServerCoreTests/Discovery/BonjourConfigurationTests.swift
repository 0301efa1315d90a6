import HTTPServerDiscovery
import Testing

@Suite("RFC 6763, RFC 6335: Validity of announced services")
struct BonjourConfigurationTests {
    private func error(
        _ change: (inout BonjourConfiguration) -> Void
    ) -> BonjourError? {
        var configuration = BonjourConfiguration()
        change(&configuration)
        do throws(BonjourError) {
            _ = try BonjourAdvertisement(configuration)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "Valid types are accepted",
        arguments: [
            "_http._tcp", "_webdav._tcp", "_a._tcp", "_a-1-b._tcp", "_HTTP._tcp",
            "_abcdefghijklmno._tcp",
        ])
    func types(_ type: String) {
        #expect(error { $0.type = type } == nil)
    }

    @Test(
        "Invalid types are refused",
        arguments: [
            "", "http", "_http", "http._tcp", "_http._udp", "_http._tcp.", "_http._tcp.local",
            "_._tcp", "_-a._tcp", "_a-._tcp", "_a--b._tcp", "_1._tcp", "_a b._tcp", "_é._tcp",
            "_abcdefghijklmnop._tcp", "_http._tcp,_sub", "__http._tcp",
        ])
    func noTypes(_ type: String) {
        #expect(error { $0.type = type } == .invalidType(type))
    }

    @Test("A subtype is a single label", arguments: ["", "_a.b", "_a,_b", "a\\", "a\n"])
    func noSubtypes(_ subtype: String) {
        #expect(error { $0.subtypes = ["_fine", subtype] } == .invalidType(subtype))
        #expect(error { $0.subtypes = ["_fine", "plain"] } == nil)
    }

    @Test("Names are text of 63 bytes at most, without control characters")
    func names() {
        for name in ["", "Anna's Notes (2) – ü", String(repeating: "n", count: 63), "a.b\\c"] {
            #expect(error { $0.name = name } == nil)
        }
        for name in [String(repeating: "n", count: 64), "a\nb", "\u{7F}", "a\0"] {
            #expect(error { $0.name = name } == .invalidName(name))
        }
    }

    @Test("Domains are at most 255 bytes, without spaces or control characters")
    func domains() {
        for domain in ["", "local", "local.", "example.org"] {
            #expect(error { $0.domain = domain } == nil)
        }
        for domain in ["a b", "a\0", String(repeating: "d", count: 256)] {
            #expect(error { $0.domain = domain } == .invalidDomain(domain))
        }
    }

    @Test("The URL has the machine's name, and the port unless it is 80")
    func url() {
        var service = BonjourService(name: "N", type: "_http._tcp", domain: "local", port: 81)
        #expect(service.url == nil)
        service.host = "desk.local"
        #expect(service.url == "http://desk.local:81/")
        service.port = 80
        #expect(service.url == "http://desk.local/")
    }

    @Test("The URL of a service over TLS begins with https, and has the port unless it is 443")
    func secureURL() {
        var service = BonjourService(
            name: "N", type: "_https._tcp", domain: "local", host: "desk.local", port: 80)
        #expect(service.url == "https://desk.local:80/")
        service.port = 443
        #expect(service.url == "https://desk.local/")
    }
}
