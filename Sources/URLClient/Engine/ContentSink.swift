internal import HTTPCodecs
internal import HTTPParser

/// Where the content of a response goes. All calls come from the session's loop.
class ContentSink {
    enum Answer {
        case taken
        /// Taken, to be handed on by ``flush()``.
        case kept
        /// Taken, and no more until `TaskDriver.sinkHasRoom()`.
        case full
        case failed(ClientError)
    }

    /// The response whose content follows. It comes again when a download goes on.
    func begin(_ response: ClientResponse) -> ClientError? { nil }

    func take(_ bytes: UnsafeRawBufferPointer) -> Answer { .taken }

    /// Hands on what was kept, as soon as no more comes for the moment.
    func flush() -> Answer { .taken }

    /// All content was taken.
    func finish(trailers: HTTPFields) -> ClientError? { nil }

    /// There will be no more.
    func abandon(_ error: ClientError) {}

    /// The content, where it is kept in memory.
    var collected: [UInt8] { [] }

    /// Whether the content is kept as it comes, in a file.
    var isFile: Bool { false }

    /// Whether a large receive buffer is worth its memory.
    var receivesMuch: Bool { false }

    /// Whether the delegate is asked what to do with the response.
    var asksForDisposition: Bool { false }

    /// Whether it was asked; a download that goes on is the same response.
    final var isDecided = false

    /// What a reader takes content from, which may get it from the connection itself.
    var stream: ContentStream? { nil }

    /// How often something was handed to the reader.
    final var givenCount = 0

    /// Whether the reader has waited for it.
    final var isAwaited = false

    /// How much of the content was there before.
    var startOffset: Int64 { 0 }
}

/// Writes the content into a file beside its destination, which it replaces in the end.
final class FileSink: ContentSink {
    private var destination: String
    private var partialPath: String
    private let isTemporary: Bool
    private var file: System.File?
    private(set) var offset: Int64 = 0
    private var resume: ResumeData?
    private var length: Int64?
    private var validator: String?
    private var hasRanges = false
    /// The response that the file is made of. Between two connections the task has none.
    private var source: ClientResponse?
    /// Whether a partial file outlives a failure, with resume data that tell of it.
    var keepsPartial = false

    /// - Parameter destination: a path; nil for a temporary file.
    init(to destination: String?, resuming resume: ResumeData?) {
        let name = Self.randomName()
        isTemporary = destination == nil
        self.destination = destination ?? "\(System.temporaryFolder)/\(name).download"
        partialPath = Self.partialPath(for: self.destination, name)
        self.resume = resume
        if let resume { partialPath = resume.partialPath }
    }

    private static func randomName() -> String {
        String(UInt64.random(in: 0...UInt64.max), radix: 36)
    }

    private static func partialPath(for destination: String, _ name: String) -> String {
        guard let slash = destination.lastIndex(of: "/") else { return ".\(destination).\(name)" }
        let folder = destination[...slash]
        return "\(folder).\(destination[destination.index(after: slash)...].prefix(128)).\(name)"
    }

    var path: String { destination }

    override var isFile: Bool { true }
    override var receivesMuch: Bool { true }
    override var asksForDisposition: Bool { true }
    override var startOffset: Int64 { offset }

    /// What has to be asked for to go on; nil to begin at the first byte.
    var continuation: ResumeData? { resume }

    override func begin(_ response: ClientResponse) -> ClientError? {
        source = response
        if response.status == .partialContent, let resume {
            guard ContentRangeStart.of(response.fields[.contentRange]) == resume.offset else {
                return ClientError(.badResponse, "another range than asked for")
            }
            return goOn(resume, response)
        }
        guard resume == nil || response.status == .ok else {
            return ClientError(.badResponse, "\(response.status) where the rest was asked for")
        }
        if let resume, file == nil,
            case .success(let old) = System.reopen(resume.partialPath, at: 0)
        {
            file = old
        }
        resume = nil
        note(response)
        length = response.expectedLength
        return startAnew()
    }

    private func goOn(_ resume: ResumeData, _ response: ClientResponse) -> ClientError? {
        if file == nil {
            switch System.reopen(resume.partialPath, at: resume.offset) {
            case .failure(let error):
                return ClientError(.cannotOpenFile, "\(resume.partialPath): \(error.text)")
            case .success(let file): self.file = file
            }
        }
        offset = resume.offset
        length = response.expectedLength.map { $0 + resume.offset }
        validator = resume.validator
        hasRanges = true
        return nil
    }

    private func startAnew() -> ClientError? {
        offset = 0
        if let file {
            return System.cut(file, at: 0) ? nil : ClientError(.cannotWriteFile, partialPath)
        }
        switch System.create(partialPath, isPrivate: isTemporary) {
        case .failure(let error):
            return ClientError(.cannotWriteFile, "\(partialPath): \(error.text)")
        case .success(let file):
            self.file = file
            return nil
        }
    }

    /// Remembers what is needed to go on later: a strong validator and a server that has ranges
    /// (RFC 9110 section 13.1.5).
    private func note(_ response: ClientResponse) {
        let fields = response.fields
        hasRanges =
            response.status == .ok && response.fields[.contentEncoding] == nil
            && fields[.acceptRanges]?.lowercased() != "none"
        if let tag = fields[.eTag], !tag.hasPrefix("W/") {
            validator = tag
        } else if fields[.eTag] == nil {
            validator = fields[.lastModified]
        } else {
            validator = nil
        }
    }

    override func take(_ bytes: UnsafeRawBufferPointer) -> Answer {
        guard let file else { return .failed(ClientError(.cannotWriteFile, "no file")) }
        if let error = unsafe System.write(bytes, to: file, at: offset) {
            return .failed(ClientError(.cannotWriteFile, "\(partialPath): \(error.text)"))
        }
        offset += Int64(bytes.count)
        return .taken
    }

    override func finish(trailers: HTTPFields) -> ClientError? {
        guard file != nil else { return ClientError(.cannotWriteFile, "no file") }
        if let error = System.move(partialPath, to: destination) {
            let failure = ClientError(.cannotWriteFile, "\(destination): \(error.text)")
            abandon(failure)
            return failure
        }
        self.file = nil
        return nil
    }

    /// With which the download can go on, if there is anything to go on with.
    var resumeData: ResumeData? {
        // Before the first answer it is what it was begun with.
        if file == nil, source == nil { return resume }
        guard file != nil, hasRanges, let validator, offset > 0, let source else { return nil }
        return ResumeData(
            url: source.url, partialPath: partialPath, offset: offset, validator: validator,
            expectedLength: length)
    }

    /// Goes on at once: the next `begin` is for the rest.
    func prepareToGoOn(_ data: ResumeData) {
        resume = data
    }

    override func abandon(_ error: ClientError) {
        guard file != nil else { return }
        file = nil
        if !keepsPartial { System.remove(partialPath) }
    }
}

/// Reads where a range begins: `bytes FIRST-LAST/LENGTH` (RFC 9110 section 14.4).
enum ContentRangeStart {
    static func of(_ value: String?) -> Int64? {
        guard let value, value.lowercased().hasPrefix("bytes ") else { return nil }
        let digits = value.utf8.dropFirst(6).prefix { (0x30...0x39).contains($0) }
        guard !digits.isEmpty, digits.count <= 18 else { return nil }
        return Int64(String(Substring(digits)))
    }
}
