import HTTPParser
import Testing
import URLClient

@Suite("The text of errors")
struct ErrorTextTests {
    @Test(
        "The error of an invalid URL shows no password",
        arguments: [
            "http://user:secret@:80/", "http://user:secret@a.example:port/",
            "http://user:secret@a.example:70000/", "http://user:secret@[::1/",
            "http://user:secret@256.0.0.1/", "http://user:secret@a%41.example/",
            "http:user:secret@a.example/", "http:/user:secret@a.example/",
            "//user:secret@a.example/", "user:secret@a.example", "http://user:secret@ /",
            "http://user:my/secret@a.example/", "http://user:my#secret@a.example/",
            "http://user:my?secret@a.example/",
        ])
    func requests(_ url: String) throws {
        let error = try #require(MachineScript(.get, url).error)
        #expect(!error.message.contains("secret"), "\(error.message)")
        #expect(!error.description.contains("secret"), "\(error)")
    }

    @Test(
        "The error of a refused redirect shows no password of the server or the request",
        arguments: [
            "ftp://eve:secret@b.example/", "http://eve:secret@b.example/",
            "//eve:secret@b.example/", "http://eve:secret@b.example:port/", "https://b .example/",
        ])
    func redirects(_ location: String) throws {
        var script = MachineScript(.get, "https://user:secret@a.example/x#f")
        script.head(.found, [.location: location])
        let error = try #require(script.error)
        #expect(!error.description.contains("secret"), "\(error)")
        #expect(error.message.hasSuffix(", after https://a.example/x"), "\(error.message)")
    }

    @Test("The error of too many redirects shows no password in its chain")
    func chain() throws {
        var configuration = ClientConfiguration.ephemeral
        configuration.redirects.limit = 1
        var script = MachineScript(.get, "https://user:secret@a.example/1", configuration)
        script.respond(.found, [.location: "/2"])
        script.respond(.found, [.location: "/3"])
        let error = try #require(script.error)
        #expect(error.kind == .tooManyRedirects)
        #expect(
            error.message == "to /3, after https://a.example/1 -> https://a.example/2",
            "\(error.message)")
    }
}
