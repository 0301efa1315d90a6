internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit
internal import WebDAVKit

extension UploaderSite {
    /// The time between checks whether the server stops or the client has gone.
    private static let watchTime = Duration.seconds(1)
    /// After this many checks, the folder is checked for changes by other programs, and an event or
    /// a comment is sent.
    private static let beatCount = 15
    /// The least time between two events; changes in between are merged.
    private static let quietTime = Duration.milliseconds(300)

    /// `GET events`: reports, by server-sent events, that the members of a folder have changed. The
    /// page then loads the list again.
    func events(_ call: UploaderCall) async throws -> Response {
        try call.require(call.role.mayList)
        let path = try await files.resolved(try UploaderCall.path(call.parameter("path") ?? []))
        try await require(.list(path), call)
        guard try await files.info(path).isCollection else {
            throw UploaderError(.conflict, .path, "the path is not a folder")
        }
        let folder = try await files.store.canonical(path, followsLast: true)
        guard let listener = changes.listen(to: folder) else {
            var error = UploaderError(
                .serviceUnavailable, nil, "too many browsers listen to changes")
            error.fields.append(.retryAfter, "60")
            throw error
        }
        let site = self
        let body = ResponseBody.stream(mediaType: "text/event-stream") { writer in
            try await writer.write("retry: 3000\n\n")
            let watcher = Task { await site.watch(folder, listener, call) }
            defer { watcher.cancel() }
            for await _ in listener.signals {
                guard listener.takeChange() else {
                    try await writer.write(":\n\n")
                    continue
                }
                try await writer.write(ServerSentEvent("{}", name: "changed").text)
                try await Task.sleep(for: Self.quietTime)
            }
        }
        return Response(
            .ok,
            fields: [
                .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
                // Proxies must not buffer events.
                "X-Accel-Buffering": "no",
            ], body: body)
    }

    /// Ends the events when the server stops or the client has gone, and regularly checks whether
    /// another program has changed the folder.
    private func watch(
        _ folder: ResourcePath, _ listener: UploaderChanges.Listener, _ call: UploaderCall
    ) async {
        var known = try? await files.store.info(at: folder).modified
        var count = 0
        while (try? await Task.sleep(for: Self.watchTime)) != nil {
            guard await call.request.isServed() else { break }
            count += 1
            guard count % Self.beatCount == 0 else { continue }
            let modified = try? await files.store.info(at: folder).modified
            if modified == known { listener.beat() } else { listener.change() }
            known = modified
        }
        listener.end()
    }
}
