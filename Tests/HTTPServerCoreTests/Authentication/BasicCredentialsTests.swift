import HTTPServerAuthentication
import HTTPServerCore
import Testing

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
        "Invalid base64, a missing colon or name, and control characters are refused",
        arguments: [
            "", "a", "QWxhZGRpbjpvcGVuIHNlc2FtZQ", "QWxhZGRpbjpvcGVuIHNlc2FtZQ=", "YTp=", "YQ==",
            "OnBhc3M=", "Og==", "YTpiAA==", "YQBiOmM=", "YTpiCg==", "YTpifw==", "YTpi-_8=", "YTpi ",
        ])
    func refusal(_ token: String) {
        #expect(BasicCredentials(token) == nil)
    }
}
