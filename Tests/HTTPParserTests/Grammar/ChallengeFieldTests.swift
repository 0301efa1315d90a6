import HTTPParser
import Testing

@Suite("RFC 9110, 11.3: The grammar of challenges")
struct ChallengeFieldTests {
    @Test(
        "The schemes of a list are read in order",
        arguments: [
            ("", []), (" , ", []), ("Basic realm=a", ["basic"]),
            ("Negotiate", ["negotiate"]),
            ("Negotiate, NTLM", ["negotiate", "ntlm"]),
            ("Negotiate ,NTLM ", ["negotiate", "ntlm"]),
            (#"Basic realm="a, b=c", Digest realm=x, nonce="1""#, ["basic", "digest"]),
            (#"Digest realm=x, nonce="1" , Basic realm="a""#, ["digest", "basic"]),
            (#"Basic realm=a,, charset="UTF-8",,Bearer"#, ["basic", "bearer"]),
            ("Negotiate abc==, Basic realm=a", ["negotiate", "basic"]),
            ("Negotiate abc== , Basic realm=a", ["negotiate", "basic"]),
            ("Bearer abc\t, Basic realm=a", ["bearer", "basic"]),
            ("X a=b, Y, Z c=d", ["x", "y", "z"]),
        ])
    func schemes(_ value: String, _ schemes: [String]) throws {
        let list = try #require(ChallengeField.list(value))
        #expect(list.map(\.scheme) == schemes)
    }

    /// This is the example of RFC 9110, section 11.6.1.
    @Test("Parameters belong to the scheme before them")
    func parameters() throws {
        let value =
            #"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#
        let list = try #require(ChallengeField.list(value))
        #expect(list.count == 2)
        #expect(list[0]["realm"] == "simple" && list[0]["type"] == nil)
        #expect(list[1]["realm"] == "apps" && list[1]["type"] == "1")
        #expect(list[1]["title"] == #"Login to "apps""#)
    }

    @Test("A scheme may have a token in place of parameters")
    func token() throws {
        let list = try #require(ChallengeField.list("Negotiate oYG2==, Basic realm=a"))
        #expect(list[0].content == .token68("oYG2=="))
        #expect(list[1]["realm"] == "a")
        #expect(list[0]["realm"] == nil)
    }

    @Test(
        "Challenges that the grammar does not allow are refused",
        arguments: [
            "=", "Basic realm=\"a", "Basic realm=a b",
            "Basic realm=a; charset=b", "Basic realm=a, realm=b", "Basic(realm)", "\"Basic\"",
            "Basic realm=a, =b", "Basic a b c", "Basic\trealm=a", "Basic realm=ä",
        ])
    func refusal(_ value: String) {
        #expect(ChallengeField.list(value) == nil)
    }
}
