import HTTPServerCore
import Testing

@Suite("RFC 9110, 11.4: The grammar of credentials")
struct AuthorizationFieldTests {
    @Test(
        "A scheme in any case, then a token or parameters",
        arguments: [
            ("Basic QWxhZGRpbg==", "basic", "QWxhZGRpbg=="), ("bAsIc a", "basic", "a"),
            ("Bearer mF_9.B5f-4.1JqM~+/", "bearer", "mF_9.B5f-4.1JqM~+/"),
            ("Basic    a=", "basic", "a="), ("X a==", "x", "a=="),
        ])
    func tokens(_ value: String, _ scheme: String, _ token: String) throws {
        let field = try #require(AuthorizationField(value))
        #expect(field.scheme == scheme && field.content == .token68(token))
    }

    @Test("A scheme alone")
    func alone() throws {
        let field = try #require(AuthorizationField("Negotiate"))
        #expect(field.scheme == "negotiate" && field.content == .nothing && field["a"] == nil)
    }

    @Test("Parameters: names without regard to case, blanks, quotes, escapes, empty elements")
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
        "What the grammar does not allow",
        arguments: [
            "", " ", " Basic a", "=", "Basic\ta", "(Basic) a", "Basic a b", "Basic =",
            "Basic a=b=c",
            "Digest =a", "Digest a=b c=d", "Digest a=b;c=d",
            "Digest a=\"b", "Digest a=\"b\"c", "Digest a=\"b\\", "Digest a=b, a=c",
            "Digest a=b, A=\"c\"", "Digest a=\"b\u{1}\"", "Digest a=b, \"c\"=d", "Basic a:b",
            "Basic ä", "Digest a=é",
        ])
    func refusal(_ value: String) {
        #expect(AuthorizationField(value) == nil)
    }
}

@Suite("RFC 7617, 2: Credentials of Basic")
struct BasicCredentialsTests {
    @Test(
        "The first colon ends the name; octets are UTF-8, else ISO-8859-1",
        arguments: [
            ("QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin", "open sesame"),
            ("dGVzdDoxMjPCow==", "test", "123£"), ("dGVzdDoxMjOj", "test", "123£"),
            ("YTo=", "a", ""), ("YTpiOmM=", "a", "b:c"), ("YTo6", "a", ":"),
        ])
    func vectors(_ token: String, _ name: String, _ password: String) throws {
        let credentials = try #require(BasicCredentials(token))
        #expect(credentials.name == name && credentials.password == password)
    }

    @Test(
        "No base64, no colon, no name, a control character",
        arguments: [
            "", "a", "QWxhZGRpbjpvcGVuIHNlc2FtZQ", "QWxhZGRpbjpvcGVuIHNlc2FtZQ=", "YTp=", "YQ==",
            "OnBhc3M=", "Og==", "YTpiAA==", "YQBiOmM=", "YTpiCg==", "YTpifw==", "YTpi-_8=", "YTpi ",
        ])
    func refusal(_ token: String) {
        #expect(BasicCredentials(token) == nil)
    }
}
