// The code of Docs/Migrating-from-GCDWebServer.md, in its order, so that it compiles.

import HTTPServerToolkit

enum UserKey: RequestKey { typealias Value = String }

func routes() throws -> Router {
    var router = Router()
    router.route(.get, to: SyncHandler { _ in .html("<p>The default</p>") })
    router.on(.get, "/hello") { _ in .text("Hello\n") }
    router.on(.get, "/users/:id") { request in .text(request.parameters["id"] ?? "") }
    router.route(
        .get, matching: #"/notes/(?<number>[0-9]+)(\.txt)?"#,
        to: SyncHandler { request in
            .text("\(request.parameters["number"] ?? "") \(request.parameters.captures)")
        })
    router.route(
        where: { $0.method == .get && $0.fields.contains("X-Robot") },
        to: SyncHandler { _ in .text("Hello, robot\n") })

    router.route(.get, "/robots.txt", to: ContentHandler("User-agent: *\nDisallow:\n"))
    router.route(
        .get, "/manual",
        to: SingleFileHandler(path: "/srv/manual-7.pdf", attachmentName: "Manual.pdf"))
    var options = FileHandler.Options()
    options.indexFiles = ["index.html"]
    options.cacheAge = 3600
    router.mount("/site", FileHandler(root: "/srv/www", options: options))
    return router
}

func answers(_ router: inout Router) {
    router.on(.get, "/later") { _ in
        try await Task.sleep(for: .seconds(3))
        return .html("<p>Hello World</p>")
    }
    router.onBlocking(.get, "/blocking") { _ in .text(readLine() ?? "") }

    router.on(.get, "/count") { _ in
        .stream { writer in
            for number in 1...3 { try await writer.write("\(number)\n") }
        }
    }
    router.on(.get, "/pulled") { _ in
        Response(
            body: .pulled(from: ["1\n", "2\n", "3\n"][...]) { lines in
                lines.popFirst().map { Array($0.utf8) }
            })
    }
}

struct Note: Codable {
    var title: String
}

func requests(_ router: inout Router) {
    router.on(.post, "/text") { request in .text(try await request.text(upTo: 1 << 20)) }
    router.on(.post, "/notes") { request in
        let note: Note = try await request.json()
        return .text(note.title, status: .created)
    }
    router.on(.put, "/inbox/:name") { request in
        let given = request.parameters["name"] ?? ""
        guard let name = ContentDisposition.safeFileName(of: given) else {
            throw HTTPError(.badRequest, "not a file name")
        }
        try await request.body.stream(toFile: "/srv/inbox/" + name, byteLimit: 1 << 30)
        return Response(.noContent)
    }
    router.on(.post, "/form") { request in
        let form = try await request.form()
        for file in form.files {
            let name = file.safeFileName ?? "unnamed"
            try await file.move(to: "/srv/inbox/" + name, replaces: true)
        }
        return .text("\(form["name"] ?? "") and \(form.values(of: "tag"))\n")
    }
    router.on(.get, "/search") { request in
        request[UserKey.self] = "somebody"
        return .text("\(request.query["q"] ?? ""), \(request.query.values(of: "tag"))\n")
    }
}

func responses(_ router: inout Router) throws {
    router.on(.get, "/value") { _ in try .json(["answer": 42]) }
    router.on(.get, "/old") { _ in .redirect(to: "new", .permanentRedirect) }
    router.on(.get, "/secret") { _ in throw HTTPError(.forbidden, "not for you") }
    router.on(.get, "/picture") { request in
        try .file(path: "/srv/picture.png", for: request, mediaType: "image/png")
    }
    router.on(.get, "/table") { request in
        var response = Response(body: .bytes([1, 2, 3], mediaType: "application/x-table"))
        response.entityTag = EntityTag(opaque: "table-7")
        response.fields.append("X-Table", "7")
        return try response.conditional(for: request)
    }

    let page = Template("<h1>Hello, %name%!</h1>")
    router.on(.get, "/page/:name") { request in
        .template(page, ["name": .text(request.parameters["name"] ?? "")])
    }
}
