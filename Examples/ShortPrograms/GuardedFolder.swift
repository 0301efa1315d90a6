// One of the programs whose lines Docs/ShortPrograms.md counts: those between the marks.

import HTTPServerAuthentication
import HTTPServerToolkit

func guardedFolder() async throws {
    // begin
    let accounts = MemoryAccountStore(realm: "Files")
    try accounts.add("ann", password: "correct-horse")
    let login = Authenticator(accounts: accounts)
    let files = AuthenticationHandler(FileHandler(root: "files"), by: login)
    try await HTTPServer(ServerConfiguration(port: 8080), handler: files).run()
    // end
}
