import HTTPParser
import Testing

@Suite("RFC 9110, 11.4: The grammar of credentials")
struct AuthorizationFieldTests {
    @Test(
        "A scheme in upper or lower case is read, followed by a token",
        arguments: [
            ("Basic QWxhZGRpbg==", "basic", "QWxhZGRpbg=="), ("bAsIc a", "basic", "a"),
            ("Bearer mF_9.B5f-4.1JqM~+/", "bearer", "mF_9.B5f-4.1JqM~+/"),
            ("Basic    a=", "basic", "a="), ("X a==", "x", "a=="),
        ])
    func tokens(_ value: String, _ scheme: String, _ token: String) throws {
        let field = try #require(AuthorizationField(value))
        #expect(field.scheme == scheme && field.content == .token68(token))
    }

    @Test("A scheme without a token or parameters is read")
    func alone() throws {
        let field = try #require(AuthorizationField("Negotiate"))
        #expect(field.scheme == "negotiate" && field.content == .nothing && field["a"] == nil)
    }

    @Test("Parameters may have names in any case, blanks, quotes, escapes and empty elements")
    func parameters() throws {
        let field = try #require(
            AuthorizationField(
                #"DIGEST ,Realm="a \"b\" \c,d=e" ,, nc=00000001\#t,QOP = auth, x="" ,"#))
        #expect(field.scheme == "digest")
        #expect(field["realm"] == #"a "b" c,d=e"#)
        #expect(field["nc"] == "00000001" && field["qop"] == "auth" && field["x"] == "")
        #expect(field["y"] == nil)
    }

    @Test(
        "Credentials that the grammar does not allow are refused",
        arguments: [
            "", " ", " Basic a", "=", "Basic\ta", "(Basic) a", "Basic a b", "Basic =",
            "Basic a=b=c",
            "Digest =a", "Digest a=b c=d", "Digest a=b;c=d",
            "Digest a=\"b", "Digest a=\"b\"c", "Digest a=\"b\\", "Digest a=b, a=c",
            "Digest a=b, A=\"c\"", "Digest a=\"b\u{1}\"", "Digest a=b, \"c\"=d", "Basic a:b",
            "Basic ä", "Digest a=é", "Basic a, b=c", "Digest a=b, Basic c=d", "Digest a=b, c",
        ])
    func refusal(_ value: String) {
        #expect(AuthorizationField(value) == nil)
    }
}
