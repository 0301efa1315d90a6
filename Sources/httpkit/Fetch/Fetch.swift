import HTTPParser
import URLClient

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// One request on its way, with all that is shown of it.
struct Fetch {
    let request: ClientRequest
    let session: ClientSession
    let output: FetchOutputOptions

    /// - Returns: the exit status of a response.
    func run() async throws -> Int32 {
        let response: ClientResponse
        if let file = output.file {
            response = try await download(to: file)
        } else {
            response = try await print()
        }
        if response.status.code >= 400 {
            show("httpkit: the server answered \(response.status)", on: STDERR_FILENO)
            return 22
        }
        return 0
    }

    // MARK: To standard output

    private func print() async throws -> ClientResponse {
        let (content, response) = try await session.bytes(for: request)
        if output.includesHead { try write(head: response) }
        // Progress and content on one terminal would spoil each other.
        let progress = isatty(STDOUT_FILENO) == 0 ? showProgress(of: content.task) : nil
        defer { progress?.cancel() }
        do {
            for try await piece in content {
                var bytes = ByteBuffer()
                bytes.append(piece)
                try StandardOutput.write(&bytes)
            }
        } catch {
            await progress?.end()
            throw error
        }
        await progress?.end()
        showMetrics(content.task)
        return response
    }

    private func write(head response: ClientResponse) throws {
        var bytes = ByteBuffer()
        bytes.append("\(response.version.rawValue) \(response.status)\r\n")
        for field in response.fields { bytes.append("\(field.name): \(field.value)\r\n") }
        bytes.append("\r\n")
        try StandardOutput.write(&bytes)
    }

    // MARK: To a file

    private func download(to path: String) async throws -> ClientResponse {
        let note = ResumeNote(file: path)
        // An error page must not take the place of a file, so it goes beside it first.
        let part = path + ".part"
        let task: DownloadTask
        if output.resume, let data = note.read() {
            task = session.downloadTask(
                resuming: data, request: request, to: part)
        } else {
            task = session.downloadTask(for: request, to: part)
        }
        task.keepsPartialFile = output.resume
        let progress = showProgress(of: task)
        do {
            let response = try await task.finished()
            await progress?.end()
            note.remove()
            if response.status.code >= 400 {
                _ = unsafe unlink(part)
            } else if unsafe rename(part, path) != 0 {
                throw StreamError("cannot write \(path)", code: errno)
            }
            if output.includesHead { try write(head: response) }
            showMetrics(task)
            return response
        } catch let error as ClientError {
            await progress?.end()
            if output.resume, let data = error.resumeData { note.write(data) }
            throw error
        }
    }

    // MARK: On standard error

    private func showProgress(of task: TransferTask) -> ProgressDisplay? {
        guard !output.noProgress, isatty(STDERR_FILENO) != 0 else { return nil }
        return ProgressDisplay(task)
    }

    private func showMetrics(_ task: TransferTask) {
        guard output.metrics, let metrics = task.metrics else { return }
        for hop in metrics.hops {
            var line = ByteBuffer()
            line.append(JSONValue(hop).line)
            try? StandardOutput.write(&line, to: STDERR_FILENO)
        }
    }
}
