// A program of somebody else that answers requests at a free port, which it prints.

import HTTPServerToolkit

var router = Router()
router.get("/users/:id") { request in "user \(request.parameters["id"] ?? "-")\n" }
let server = HTTPServer(ServerConfiguration(port: 0), handler: router)
try await server.start()
for address in server.addresses { print(address) }
try await Task.sleep(for: .seconds(60))
