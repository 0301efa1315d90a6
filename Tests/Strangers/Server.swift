// A user's program that answers requests at a free port; the log says which one it is.

import HTTPServerToolkit

var router = Router()
router.get("/users/:id") { request in "user \(request.parameters["id"] ?? "-")\n" }
try await HTTPServer(ServerConfiguration(port: 0), handler: router).run()
