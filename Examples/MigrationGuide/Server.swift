import HTTPServerAuthentication
import HTTPServerToolkit

func serve(_ router: Router) async throws {
    let accounts = MemoryAccountStore(realm: "Inbox")
    try accounts.add("ann", password: "correct-horse")
    var login = Authenticator.Options()
    login.schemes = [.digest]
    let authenticator = Authenticator(accounts: accounts, options: login)
    let guarded = AuthenticationHandler(router, by: authenticator)

    var configuration = ServerConfiguration(host: "*", port: 8080)
    configuration.serverName = "Inbox"
    configuration.accessLog = { print($0.combined) }
    let server = HTTPServer(configuration, handler: CompressionHandler(guarded))
    try await server.run()
}
