import HTTPParser
import HTTPServerCore
internal import ToolkitSystem
import URLClient

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Sends one request, and shows or stores its response.
struct Fetch {
    let request: ClientRequest
    let session: ClientSession
    let output: FetchOutputOptions
    /// The path of the file to send; `nil` without one.
    let upload: String?
    /// Whether only the head is requested and shown.
    let isHeadOnly: Bool
    /// The server's explanation of an error status.
    private let explanation = Locked<String?>(nil)

    /// A signal has ended the transfer.
    struct Interrupted: Error { let signal: CInt }

    /// Control-C and SIGTERM cancel the transfer, so that only the files that --resume needs are
    /// left; a second signal ends the program immediately.
    /// - Returns: the exit status of a response.
    func run() async throws -> Int32 {
        let came = Locked<CInt?>(nil)
        let work = Task {
            if isHeadOnly { return try await printHead() }
            if output.resume, let upload { return try await send(upload) }
            if let file = output.file, !Self.isStandardOutput(file) {
                if Self.isSpecial(file) { return try await write(into: file) }
                return try await download(to: Self.target(of: file))
            }
            return try await print()
        }
        let watch = SignalWatch([.interrupt, .terminate]) { signal in
            came.withLock { $0 = signal.number }
            work.cancel()
        }
        defer { watch.end() }
        let response: ClientResponse
        do {
            response = try await work.value
        } catch {
            if let signal = came.withLock({ $0 }) { throw Interrupted(signal: signal) }
            throw error
        }
        if response.status.code >= 400 {
            let reason = response.status.reasonPhrase
            let status = "\(response.status.code)" + (reason.isEmpty ? "" : " \(reason)")
            let more = explanation.withLock { $0.map { ": \($0)" } ?? "" }
            output.complain("the server answered \(status)\(more)")
            return 22
        }
        return 0
    }

    // MARK: As it comes

    /// Prints the content on standard output or another descriptor.
    private func print(on descriptor: CInt = STDOUT_FILENO) async throws -> ClientResponse {
        let (content, response) = try await session.bytes(for: request)
        if output.includesHead { try Self.write(head: response) }
        // Progress and content on one terminal would overwrite each other.
        let progress = isatty(descriptor) == 0 ? showProgress(of: content.task) : nil
        defer { progress?.cancel() }
        do {
            for try await piece in content {
                // An error page is not saved as the requested file.
                if output.file != nil, response.status.code >= 400 { continue }
                var bytes = ByteBuffer()
                bytes.append(piece)
                try StandardOutput.write(&bytes, to: descriptor)
            }
        } catch {
            // The content is no longer read: without this, the transfer and its progress would
            // never end.
            content.task.cancel()
            await progress?.end()
            throw error
        }
        await progress?.end()
        showMetrics(content.task)
        return response
    }

    /// Whether a path leads to standard output, such as `/dev/stdout`. That file must not be
    /// replaced: the shell may have opened it for more output than this content.
    private static func isStandardOutput(_ path: String) -> Bool {
        var (there, output) = (stat(), stat())
        return unsafe stat(path, &there) == 0 && fstat(STDOUT_FILENO, &output) == 0
            && there.st_dev == output.st_dev && there.st_ino == output.st_ino
    }

    /// The path to write to: for a trusted link its target, which need not exist yet, so that the
    /// link itself is not replaced.
    private static func target(of path: String) -> String {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK,
            isTrusted(status, in: folder(of: path))
        else { return path }
        if let target = realPath(path) { return target }
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &bytes, bytes.count)
        guard count > 0 else { return path }
        let text = String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let target = text.utf8.first == UInt8(ascii: "/") ? text : folder(of: path) + "/" + text
        guard let name = target.utf8.split(separator: UInt8(ascii: "/")).last,
            let folder = realPath(folder(of: target))
        else { return path }
        return folder + "/" + String(Substring(name))
    }

    /// Whether a link may be followed. In a folder that all users share, such as `/tmp`, another
    /// user may have created the link to have a file of this user replaced. Linux has the same rule
    /// (fs.protected_symlinks).
    private static func isTrusted(_ link: stat, in folder: String) -> Bool {
        var status = stat()
        guard unsafe stat(folder, &status) == 0 else { return false }
        let isShared = status.st_mode & S_ISVTX != 0 && status.st_mode & S_IWOTH != 0
        return !isShared || link.st_uid == geteuid() || link.st_uid == status.st_uid
    }

    static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func realPath(_ path: String) -> String? {
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    /// Whether the path leads to something other than a regular file, such as a device or a pipe.
    private static func isSpecial(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
    }

    /// Writes into a file that is not a regular one, such as a device: it is neither replaced nor
    /// removed.
    private func write(into path: String) async throws -> ClientResponse {
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else {
            let code = errno
            throw StreamError("cannot write \(path)", code: code)
        }
        defer { _ = close(descriptor) }
        return try await print(on: descriptor)
    }

    /// Prints only the head, to the output file or on standard output.
    private func printHead() async throws -> ClientResponse {
        let (content, response) = try await session.bytes(for: request)
        for try await _ in content {}
        showMetrics(content.task)
        guard let path = output.file, !Self.isStandardOutput(path) else {
            try Self.write(head: response)
            return response
        }
        let descriptor = unsafe open(
            path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0o666)
        guard descriptor >= 0 else {
            let code = errno
            throw StreamError("cannot write \(path)", code: code)
        }
        defer { _ = close(descriptor) }
        try Self.write(head: response, to: descriptor)
        return response
    }

    static func write(
        head response: ClientResponse, to descriptor: CInt = STDOUT_FILENO
    ) throws {
        var bytes = ByteBuffer()
        bytes.append("\(response.version.rawValue) \(response.status)\r\n")
        for field in response.fields { bytes.append("\(field.name): \(field.value)\r\n") }
        bytes.append("\r\n")
        try StandardOutput.write(&bytes, to: descriptor)
    }

    // MARK: To a file

    private func download(to path: String) async throws -> ClientResponse {
        let note = ResumeNote(
            file: path, request: request.url, showsMessages: output.showsMessages)
        guard output.resume, let data = note.read() else {
            return try await downloadUnlessWhole(path, note)
        }
        let rest = session.downloadTask(resuming: data, request: request, to: path)
        do {
            return try await finish(rest, note)
        } catch let error as ClientError {
            switch error.kind {
            // The partial file is missing or shorter than before. Other errors of this kind concern
            // another file.
            case .cannotOpenFile where (data.measured()?.offset ?? 0) < data.offset: break
            // Nothing is left to fetch, or the partial file is longer than the content is now.
            case .badResponse where rest.response?.status == .rangeNotSatisfiable: break
            case .badResponse:
                // The server reports an error; the partial file stays valid.
                guard let answer = rest.response, answer.status.code >= 400 else { throw error }
                if output.includesHead { try Self.write(head: answer) }
                showMetrics(rest)
                return answer
            default: throw error
            }
            note.remove()
            _ = unsafe unlink(data.partialPath)
            return try await finish(session.downloadTask(for: request, to: path), note)
        }
    }

    /// With --resume, a complete file is fetched again only if the server's content has changed.
    private func downloadUnlessWhole(
        _ path: String, _ note: ResumeNote
    ) async throws -> ClientResponse {
        guard output.resume, let whole = FetchedFile(path, for: request) else {
            return try await finish(session.downloadTask(for: request, to: path), note)
        }
        let task = session.downloadTask(for: whole.conditional(request), to: path)
        do {
            return try await finish(task, note)
        } catch let error as ClientError where error.kind == .unexpectedStatus {
            guard let response = task.response, response.status == .notModified else { throw error }
            guard whole.isConfirmed(by: response) else {
                return try await finish(session.downloadTask(for: request, to: path), note)
            }
            output.complain("\(path) is complete, and the server still has the same")
            if output.includesHead { try Self.write(head: response) }
            showMetrics(task)
            return response
        }
    }

    /// The first line of an error page, if it is plain text and adds something to the status.
    /// - Parameters:
    ///   - message: the message of the client's error: the status, a colon, and the beginning of
    ///     the content.
    ///   - status: code and reason phrase.
    /// - Returns: `nil` without such a line.
    static func explanation(in message: String, of status: String) -> String? {
        let head = "\(status): "
        guard message.hasPrefix(head) else { return nil }
        let line = message.dropFirst(head.count).prefix { !$0.isNewline }
        guard !line.isEmpty, line.first != "<", line != status else { return nil }
        return harmless(line)
    }

    /// A server's text, with characters that could control a terminal replaced by `?`.
    static func harmless(_ text: some StringProtocol) -> String {
        String(text.map { $0.unicodeScalars.contains(where: steersTerminals) ? "?" : $0 })
    }

    /// Whether a character controls a terminal or changes the direction of text, which could forge
    /// output.
    private static func steersTerminals(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    private func finish(
        _ task: DownloadTask, _ note: ResumeNote
    ) async throws -> ClientResponse {
        task.keepsPartialFile = output.resume
        if output.resume { task.onResumable = { note.keep($0) } }
        let progress = showProgress(of: task)
        do {
            let response = try await task.finished()
            await progress?.end()
            if output.resume {
                note.remove()
                FetchedFile.note(task.path, request, response)
            }
            if output.includesHead { try Self.write(head: response) }
            showMetrics(task)
            return response
        } catch let error as ClientError {
            await progress?.end()
            // An error response does not affect a partial file of an earlier call.
            if error.kind == .unexpectedStatus, let response = task.response,
                response.status.code >= 400
            {
                let reason = response.reasonPhrase
                let status = "\(response.status.code)" + (reason.isEmpty ? "" : " \(reason)")
                explanation.withLock { $0 = Self.explanation(in: error.message, of: status) }
                if output.includesHead { try Self.write(head: response) }
                showMetrics(task)
                return response
            }
            guard output.resume else { throw error }
            if let data = error.resumeData { note.write(data) } else { note.removeIfStale() }
            throw error
        }
    }

    // MARK: On standard error

    /// Whether progress is shown: no flag forbids it, and standard error is a terminal.
    var showsProgress: Bool {
        !output.noProgress && !output.isSilent && isatty(STDERR_FILENO) != 0
    }

    private func showProgress(of task: TransferTask) -> ProgressDisplay? {
        showsProgress ? ProgressDisplay(task) : nil
    }

    func showMetrics(_ task: TransferTask) {
        guard output.metrics, let metrics = task.metrics else { return }
        for transaction in metrics.transactions {
            var line = ByteBuffer()
            line.append(JSONValue(transaction).line)
            try? StandardOutput.write(&line, to: STDERR_FILENO)
        }
    }
}
