// ProtectedFiles: a folder for users who log in, a page for anybody, and one for the owner alone.
//
//   swift run --package-path Examples ProtectedFiles [PORT [FOLDER]]
//   curl localhost:8080/
//   curl --digest -u ann:correct-horse localhost:8080/files/
//   curl --basic -u bob:battery-staple localhost:8080/owner
//
// Clients choose between Digest and Basic. Nothing of a request is read before its user is known.

import HTTPServerAuthentication
import HTTPServerToolkit

@main
struct ProtectedFiles {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let port = arguments.first.flatMap { UInt16($0) } ?? 8080
        let folder = arguments.dropFirst().first ?? "."

        let accounts = MemoryAccountStore(realm: "Example")
        try accounts.add("ann", password: "correct-horse")
        try accounts.add("bob", password: "battery-staple")
        let authenticator = Authenticator(accounts: accounts)

        var router = Router()
        router.mount(
            "/files", AuthenticationHandler(FileHandler(root: folder), by: authenticator))

        let greeting = SyncHandler { request in
            .text("Hello, \(request.identity?.name ?? "stranger")\n")
        }
        router.route(
            .get, "/",
            to: AuthenticationHandler(greeting, by: authenticator, isOptional: true))
        router.route(
            .get, "/owner",
            to: AuthenticationHandler(greeting, by: authenticator) { user, _ in
                user.name == "ann"
            })

        var configuration = ServerConfiguration(host: "127.0.0.1", port: port)
        configuration.accessLog = { print($0.combined) }
        try await HTTPServer(configuration, handler: router).run()
    }
}
