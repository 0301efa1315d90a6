internal import HTTPCodecs
internal import HTTPParser
internal import ToolkitSystem

/// The size of the pieces in which content is read from a connection and handed to a reader.
enum ContentPiece {
    /// In bytes. Larger pieces save calls, but from 128 KiB on the allocator maps and unmaps memory
    /// for each piece.
    static let usualLength = 120 << 10
}

/// The destination of a response's content. The session's loop makes all calls.
class ContentSink {
    enum Answer {
        case taken
        /// Taken and kept until ``flush()``.
        case kept
        /// Taken; no more is delivered until `TransactionRunner.sinkHasRoom()`.
        case full
        case failed(ClientError)
    }

    /// Begins the content of a response. Called again when a download continues with another
    /// response.
    func begin(_ response: ClientResponse) -> ClientError? { nil }

    func take(_ bytes: UnsafeRawBufferPointer) -> Answer { .taken }

    /// Passes on the kept content. Called when no more arrives for the moment.
    func flush() -> Answer { .taken }

    /// Ends the content after all of it was taken.
    func finish(trailers: HTTPFields) -> ClientError? { nil }

    /// Ends the content with an error; no more is delivered.
    func abandon(_ error: ClientError) {}

    /// The content, if it is kept in memory; otherwise empty.
    var collected: [UInt8] { [] }

    /// Whether the content is written to a file, by default without decoding.
    var isFile: Bool { false }

    /// Whether a large receive buffer is worth its memory.
    var receivesMuch: Bool { false }

    /// Whether the delegate is asked what to do with the response.
    var asksForDisposition: Bool { false }

    /// Whether the disposition is already decided, because a completion handler takes the content.
    final var isDecided = false

    /// The stream whose reader may fetch content from the connection itself.
    var stream: ContentStream? { nil }

    /// How often the response or a piece of content was handed to the reader.
    final var givenCount = 0

    /// Whether the reader waits, and must be notified of the content.
    final var isAwaited = false

    /// How many bytes of the content were received before this response.
    var startOffset: Int64 { 0 }
}

/// Writes the content into a partial file next to the destination. At the end the partial file
/// replaces the destination.
final class FileSink: ContentSink {
    private var destination: String
    private var partialPath: String
    private var file: OpenFile?
    private(set) var offset: Int64 = 0
    private var resume: ResumeData?
    private var announced = AnnouncedContent()
    /// The response that the file's content comes from. The task has no response between two
    /// connections.
    private var source: ClientResponse?
    /// Whether the delegate has to be notified that an earlier task's download continues.
    var notifiesResumption: Bool
    /// Whether a partial file, which the resume data names, is kept after a failure.
    var keepsPartial = false
    /// Whether the content was decoded. Then no range matches the file.
    var isDecoded = false
    /// Whether only the owner may read the file, as in a folder that all users share.
    var isPrivate: Bool
    /// Whether the status has to be 2xx: an error page must not replace a file.
    var requiresSuccess = false
    /// The beginning of an error page. The error's text shows it.
    private var errorPage: [UInt8] = []

    /// - Parameters:
    ///   - destination: a path; nil for a temporary file.
    ///   - resume: the data of an earlier download that continues.
    init(to destination: String?, resuming resume: ResumeData?) {
        let number = UInt64.random(in: 0...UInt64.max)
        isPrivate = destination == nil
        // The program may change its current folder during the download.
        self.destination = Syscalls.absolutePath(
            destination
                ?? "\(Syscalls.temporaryParent(nil))/\(String(number, radix: 36)).download")
        partialPath = PartialFile.path(for: self.destination, number: number)
        self.resume = resume
        notifiesResumption = resume != nil
        if let resume { partialPath = Syscalls.absolutePath(resume.partialPath) }
    }

    var path: String { destination }

    override var isFile: Bool { true }
    override var receivesMuch: Bool { true }
    override var asksForDisposition: Bool { true }
    override var startOffset: Int64 { offset }

    /// The data for resuming; nil to begin at the first byte.
    var continuation: ResumeData? { resume }

    /// The length of the whole content, if that is known.
    var length: Int64? { announced.length }

    /// Whether the partial file is open.
    var isOpen: Bool { file != nil }

    /// The progress of the download.
    var state: DownloadState {
        DownloadState(isOpen: isOpen, offset: offset, resumeData: resumeData)
    }

    /// Accepts the existing partial file as the complete content.
    /// - Returns: the response that the part was received with, or a substitute made from the
    ///   resume data.
    func acceptWhole(_ response: ClientResponse) -> Result<ClientResponse, ClientError> {
        guard let resume else { return .failure(ClientError(.cannotWriteFile, "no file")) }
        if let error = openPart(resume, total: resume.offset) { return .failure(error) }
        if let source { return .success(source) }
        let isTag = resume.validator.begins(with: "\"")
        return .success(
            ClientResponse(
                url: response.url, status: .ok, version: response.version,
                fields: [
                    isTag ? .eTag : .lastModified: resume.validator,
                    .contentLength: "\(resume.offset)",
                ]))
    }

    override func begin(_ response: ClientResponse) -> ClientError? {
        if response.status == .partialContent, let resume {
            guard let range = ContentRange(response.fields[.contentRange]),
                range.first == resume.offset, !resume.isOutdated(by: response),
                response.expectedLength.map({ $0 == range.length }) ?? true
            else {
                return ClientError(.badResponse, "the response has another range than the request")
            }
            let total = range.total ?? resume.expectedLength
            if let error = openPart(resume, total: total) { return error }
            source = response
            announced.partEnd = range.last + 1
            return nil
        }
        guard resume == nil || response.status == .ok else {
            return ClientError(.badResponse, "expected 206 or 200, got \(response.status)")
        }
        if resume != nil, file == nil {
            do throws(SystemError) {
                file = try PartialFile.reopen(partialPath, at: 0)
            } catch {
                if !error.isNoSuchFile { return unopened(error) }
            }
        }
        source = response
        resume = nil
        notifiesResumption = false
        announced = AnnouncedContent(response, isDecoded: isDecoded)
        return restart()
    }

    /// Begins a file whose content is passed to `write(_:)`, not received by a task.
    func begin() -> ClientError? { restart() }

    func write(_ piece: [UInt8]) -> ClientError? {
        guard case .failed(let error) = unsafe piece.withUnsafeBytes({ unsafe take($0) }) else {
            return nil
        }
        return error
    }

    private func openPart(_ resume: ResumeData, total: Int64?) -> ClientError? {
        if file == nil {
            do throws(SystemError) {
                file = try PartialFile.reopen(partialPath, at: resume.offset)
            } catch {
                return unopened(error)
            }
        }
        offset = resume.offset
        announced = AnnouncedContent(resume, total: total)
        return nil
    }

    private func unopened(_ error: SystemError) -> ClientError {
        guard !error.isHeldElsewhere else {
            return ClientError(.cannotWriteFile, "\(partialPath): another download writes it")
        }
        return ClientError(.cannotOpenFile, "\(partialPath): \(error.reason)")
    }

    private func restart() -> ClientError? {
        offset = 0
        do throws(SystemError) {
            if let file {
                try file.truncate(to: 0)
            } else {
                file = try PartialFile.create(partialPath, isPrivate: isPrivate)
            }
            return nil
        } catch {
            return unwritten(error)
        }
    }

    private func unwritten(_ error: SystemError) -> ClientError {
        ClientError(.cannotWriteFile, "\(partialPath): \(error.reason)")
    }

    override func take(_ bytes: UnsafeRawBufferPointer) -> Answer {
        guard let file else { return .failed(ClientError(.cannotWriteFile, "no file")) }
        if isRefused { return unsafe takeErrorPage(bytes) }
        do throws(SystemError) {
            try unsafe file.write(bytes, at: offset)
        } catch {
            return .failed(unwritten(error))
        }
        offset += Int64(bytes.count)
        return .taken
    }

    /// Keeps the beginning of an error page, and writes nothing. A page of more than 64 KiB ends
    /// the transfer.
    private func takeErrorPage(_ bytes: UnsafeRawBufferPointer) -> Answer {
        unsafe errorPage += bytes.prefix(Self.errorTextLimit - errorPage.count)
        offset += Int64(bytes.count)
        guard offset > Self.errorPageLimit, let source else { return .taken }
        return .failed(refusal(source))
    }

    /// How many bytes of an error page are shown in the text of the error.
    private static let errorTextLimit = 200
    /// How many bytes of an error page are read so that its connection can be used again.
    private static let errorPageLimit: Int64 = 64 << 10

    private func refusal(_ response: ClientResponse) -> ClientError {
        response.statusError(String(decoding: errorPage, as: UTF8.self))
    }

    /// Whether the response is an error page, which must not become the file.
    private var isRefused: Bool {
        requiresSuccess && source.map { $0.status.class != .successful } ?? false
    }

    override func finish(trailers: HTTPFields) -> ClientError? {
        guard let file else { return ClientError(.cannotWriteFile, "no file") }
        if isRefused, let source {
            let failure = refusal(source)
            abandon(failure)
            return failure
        }
        // A server may send less than the whole rest, but not more.
        if let total = announced.total, offset != total {
            return ClientError(
                offset < total ? .truncated : .contentTooLong, "\(offset) bytes of \(total)")
        }
        if let partEnd = announced.partEnd {
            if offset > partEnd { return ClientError(.contentTooLong, "more than the range") }
            // If the whole length is unknown (RFC 9110 section 14.4), more may follow this range;
            // only the answer to a request for the next bytes can show the end.
            if announced.total == nil || offset < partEnd {
                return ClientError(.truncated, "\(offset) bytes of an unknown number")
            }
        }
        do throws(SystemError) {
            try file.checkClosing()
        } catch {
            // The system reports this error once. The incomplete file must not be resumed later.
            announced.hasRanges = false
            return unwritten(error)
        }
        do throws(SystemError) {
            try PartialFile.move(file, at: partialPath, to: destination)
        } catch {
            return ClientError(.cannotWriteFile, "\(destination): \(error.reason)")
        }
        self.file = nil
        return nil
    }

    /// The data for resuming the download, if there is a usable part.
    var resumeData: ResumeData? {
        // Before the first usable response, the data of the earlier download is still valid.
        if file == nil, source == nil { return resume }
        return offset > 0 ? openFileData : nil
    }

    /// The data for resuming from the open file, even if it is empty.
    private var openFileData: ResumeData? {
        guard file != nil, announced.hasRanges, let validator = announced.validator, let source
        else { return nil }
        return ResumeData(
            url: source.url, partialPath: partialPath, offset: offset, validator: validator,
            expectedLength: length)
    }

    /// Passes `note` the data for resuming in a later run of the program, unless the content is an
    /// error page.
    func noteResumability(_ note: (ResumeData?) -> Void) {
        if !isRefused { note(openFileData) }
    }

    /// Prepares for a second request: the next `begin` gets the response with the rest.
    func prepareToResume(_ data: ResumeData) {
        resume = data
    }

    override func abandon(_ error: ClientError) {
        guard let file else {
            // The partial file of the earlier download was not opened.
            if resume != nil, !keepsPartial { PartialFile.removeUnlessInUse(partialPath) }
            return
        }
        // Remove the file before its lock is released: a download that opens it in between would
        // lose it.
        if !keepsPartial || isRefused { Syscalls.removeFile(partialPath) }
        file.release()
        self.file = nil
    }
}

extension ContentSink {
    /// Ends the content with an error, and keeps or removes the received part.
    /// - Parameters:
    ///   - error: the reason.
    ///   - received: how many bytes the sink received.
    ///   - keepsPartial: whether a partial file is kept; nil for the default.
    /// - Returns: the error, with the resume data of a partial file that is kept.
    final func abandon(
        _ error: ClientError, received: Int64, _ keepsPartial: Bool?
    ) -> ClientError {
        var error = error
        error.bytesReceived = received
        if let file = self as? FileSink, let data = file.resumeData {
            file.keepsPartial = keepsPartial ?? (error.kind != .cancelled)
            if file.keepsPartial { error.resumeData = data }
        }
        abandon(error)
        return error
    }
}
