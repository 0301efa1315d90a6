internal import HTTPParser

/// One transaction in libcurl: what its callbacks bring is put in order here and handed to the runner.
final class CurlTransfer {
    enum ContentAnswer { case taken, paused, failed }

    /// Keeps the transfer, and takes it out of libcurl before it lets it go.
    private unowned(unsafe) let owner: TransactionRunner
    var runner: TransactionRunner { unsafe owner }
    let handle: EasyHandle
    let upload: UploadSource?
    let settings: TransferSettings

    /// Why a callback has ended the transfer.
    var failure: ClientError?
    /// When something came or went last.
    var lastActivity: Int64
    /// When the last byte of the request's content was given away, or the request was sent.
    private(set) var uploadEnd: Int64 = 0
    private(set) var responseStart: Int64 = 0
    let startTime: Int64

    // The head of the response, or fields behind the content.
    @exclusivity(unchecked)
    private var lines: [UInt8] = []
    private var names = FieldNameFilter.none
    private var headBytes = 0
    private(set) var isHeadDone = false
    private var interim: [ClientResponse.Interim] = []
    private var hasLength = false
    private var hasConflict = false
    private(set) var contentLength: Int64?
    private var contentCount: Int64 = 0
    private(set) var isCoded = false

    /// How often the request went out, or began to.
    private var startCount = 0
    /// What a proxy says before there is a way to the server.
    private let isTunnelled: Bool
    private var tunnelLines: [UInt8] = []
    /// With what a proxy has refused to make a tunnel.
    private(set) var tunnelRefusal: ClientResponse?

    /// Which directions libcurl holds back.
    private var receivingIsPaused = false
    private var sendingIsPaused = false

    init(
        _ runner: TransactionRunner, _ handle: EasyHandle, _ settings: TransferSettings,
        upload: UploadSource?, now: Int64
    ) {
        unsafe owner = runner
        self.handle = handle
        self.settings = settings
        self.upload = upload
        lastActivity = now
        startTime = now
        isTunnelled = settings.tunnels
    }

    private func touch() {
        lastActivity = runner.loop.now
    }

    /// Asked before the request goes out. A second time, because a connection that was used before
    /// turned out to be closed, or the server has refused the stream, is for requests that may be done
    /// twice, and for those of which nothing was sent (RFC 9110 section 9.2.2).
    func mayStart() -> Bool {
        if isTunnelled, startCount == 0 { runner.loop.noteTunnel(settings) }
        startCount += 1
        guard !settings.method.isIdempotent else { return true }
        guard startCount > 1, handle.requestHeadBytes > 0 else {
            if settings.mayUseStreams { handle.watchStream() }
            return true
        }
        return fail(notRepeated("closed without an answer, and not sent again by itself"))
    }

    /// Why libcurl does not send the request again. What the server has not begun to do may be, but
    /// then by whom it is told so.
    private func notRepeated(_ text: String) -> ClientError {
        handle.isUnprocessed
            ? ClientError(.connectionLost, "the server has refused to begin with it")
            : ClientError(.connectionLost, text)
    }

    // MARK: the head

    /// A line of what a proxy answers to CONNECT.
    private func received(tunnelLine line: UnsafeRawBufferPointer) -> Bool {
        guard tunnelLines.count + line.count <= runner.headLimit else {
            return fail(ClientError(.headTooLong, "more than \(runner.headLimit) bytes"))
        }
        if unsafe startsHead(line) { tunnelLines.removeAll() }
        unsafe tunnelLines.append(contentsOf: line)
        guard unsafe isEmpty(line), let (status, version) = Self.statusLine(of: tunnelLines),
            status.code >= 300
        else { return true }
        tunnelRefusal = ClientResponse(
            url: runner.requestURL, status: status, version: version,
            head: ResponseFields(bytes: tunnelLines))
        return true
    }

    /// A line of a head, its end included. False ends the transfer.
    func received(line: UnsafeRawBufferPointer) -> Bool {
        touch()
        if isTunnelled, startCount == 0 { return unsafe received(tunnelLine: line) }
        headBytes += line.count
        guard headBytes <= runner.headLimit else {
            return fail(ClientError(.headTooLong, "more than \(runner.headLimit) bytes"))
        }
        if isHeadDone {
            unsafe lines.append(contentsOf: line)
            return true
        }
        guard unsafe !isEmpty(line) else { return headEnded() }
        if unsafe startsHead(line) {
            // A head before this one was for libcurl alone, such as a proxy's challenge.
            resetHead()
            unsafe lines.append(contentsOf: line)
            return true
        }
        unsafe lines.append(contentsOf: line)
        unsafe names.add(line)
        return unsafe noteField(line)
    }

    private func resetHead() {
        if responseStart == 0 {
            responseStart = runner.task.wantsMetrics ? System.now() : runner.loop.now
        }
        unsafe lines.removeAll(keepingCapacity: true)
        unsafe lines.reserveCapacity(512)
        names = .none
        (hasLength, hasConflict, contentLength, isCoded) = (false, false, nil, false)
    }

    private func isEmpty(_ line: UnsafeRawBufferPointer) -> Bool {
        unsafe line.isEmpty || line[0] == 10 || (line[0] == 13 && line.count == 2)
    }

    private func startsHead(_ line: UnsafeRawBufferPointer) -> Bool {
        unsafe line.count >= 5 && line[0] == 0x48 && line[1] == 0x54 && line[2] == 0x54
            && line[3] == 0x50 && line[4] == 0x2F
    }

    /// Looks at the two fields that decide how the content is read: Content-Length and
    /// Content-Encoding.
    private func noteField(_ line: UnsafeRawBufferPointer) -> Bool {
        guard line.count > 15, unsafe line[0] | 0x20 == 0x63, unsafe line[7] == 0x2D else {
            return true
        }
        if unsafe matches(line, "content-length:") {
            let value = unsafe UnsafeRawBufferPointer(rebasing: line[15...])
            guard let length = unsafe FieldLines.decimal(value) else {
                return fail(ClientError(.badResponse, "a length that is no number"))
            }
            if hasLength, length != contentLength { hasConflict = true }
            (hasLength, contentLength) = (true, length)
        } else if unsafe matches(line, "content-encoding:") {
            isCoded = true
        }
        return true
    }

    private func matches(_ line: UnsafeRawBufferPointer, _ name: StaticString) -> Bool {
        let length = name.utf8CodeUnitCount
        guard line.count >= length else { return false }
        for index in 0..<length {
            let byte = unsafe line[index]
            let lower = (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
            guard unsafe lower == name.utf8Start[index] else { return false }
        }
        return true
    }

    private func headEnded() -> Bool {
        guard let (status, version) = unsafe Self.statusLine(of: lines) else {
            return fail(ClientError(.badResponse, "no lawful status line"))
        }
        // Two lengths could be read in two ways (RFC 9112 section 6.3).
        guard !hasConflict else {
            return fail(ClientError(.badResponse, "two different lengths"))
        }
        let head = unsafe ResponseFields(bytes: lines, names: names)
        if status.code < 200, status.code != 101 {
            if interim.count < 32 {
                interim = interim + [ClientResponse.Interim(status: status, head: head)]
                runner.interimReceived(status, head)
            }
            return true
        }
        isHeadDone = true
        unsafe lines = []
        runner.loop.multi?.noteAnswer(
            to: handle, isPlain: version == .http11 || version == .http10)
        let response = ClientResponse(
            url: runner.requestURL, status: status, version: version, head: head, interim: interim,
            expectedLength: runner.expectedLength(of: status, self))
        runner.headReceived(response, self)
        return failure == nil
    }

    /// Whether the connection was closed before the head was whole.
    var isInsideHead: Bool { headBytes > 0 && !isHeadDone }

    /// Reads the first line: the version, a space and three digits; the reason may be missing.
    private static func statusLine(
        of lines: [UInt8]
    ) -> (HTTPStatus, ClientResponse.Version)? {
        guard let end = lines.firstIndex(of: 10) else {
            // HTTP/0.9 has no head, and libcurl makes none up.
            return nil
        }
        let line = lines[..<end]
        guard let space = line.firstIndex(of: 32), line.count >= space + 4 else { return nil }
        var code = 0
        for byte in line[(space + 1)...(space + 3)] {
            guard (0x30...0x39).contains(byte) else { return nil }
            code = code * 10 + Int(byte - 0x30)
        }
        guard let status = HTTPStatus(code) else { return nil }
        let version: ClientResponse.Version =
            switch line[5] {
            case 0x32: .http2
            case 0x33: .http3
            default: space == 8 && line[7] == 0x30 ? .http10 : .http11
            }
        return (status, version)
    }

    /// The fields behind the content.
    var trailers: HTTPFields {
        unsafe lines.isEmpty ? HTTPFields() : FieldLines.fields(in: lines)
    }

    // MARK: content

    func received(content: UnsafeRawBufferPointer) -> ContentAnswer {
        touch()
        if !isHeadDone, runner.loop.configuration.allowsHTTP09 { startWithoutHead() }
        if failure != nil { return .failed }
        guard !runner.holdsReceiving else {
            receivingIsPaused = true
            return .paused
        }
        contentCount += Int64(content.count)
        unsafe runner.contentReceived(content, self)
        return failure == nil ? .taken : .failed
    }

    private func startWithoutHead() {
        isHeadDone = true
        runner.headReceived(
            ClientResponse(url: runner.requestURL, status: .ok, version: .http10), self)
    }

    func read(into room: UnsafeMutableRawBufferPointer) -> UploadSource.Answer {
        touch()
        guard let upload else { return .bytes(0) }
        guard !runner.holdsSending else {
            sendingIsPaused = true
            return .paused
        }
        let answer = unsafe upload.read(into: room)
        switch answer {
        case .bytes(let count):
            runner.contentSent(count)
            if count == 0 || upload.isAtEnd { uploadEnd = runner.loop.now }
        case .paused: sendingIsPaused = true
        case .failed: failure = failure ?? upload.failure
        }
        return answer
    }

    /// Whether content is on its way, and something of the answer has to come still.
    var needsAnswer: Bool {
        guard let upload, upload.position > 0, !receivingIsPaused else { return false }
        return !isHeadDone || contentCount < contentLength ?? 0
    }

    /// The server has ended its side while content is sent: no answer will come. libcurl would send on,
    /// and wait for ever for a server that reads nothing more and keeps its socket.
    func connectionEnded() {
        runner.fail(
            isHeadDone
                ? ClientError(.truncated, "the connection ended within the response")
                : ClientError(.connectionLost, "the server ended the connection without an answer"))
    }

    /// libcurl sends the content again when a connection that was used before turns out to be
    /// closed. A request that must not happen twice is not repeated without being asked
    /// (RFC 9110 section 9.2.2).
    func seek(to offset: Int64) -> Bool {
        guard let upload else { return false }
        if upload.position > offset, !settings.method.isIdempotent {
            failure = notRepeated("the content was sent in part and not again")
            return false
        }
        let sent = upload.position
        guard upload.seek(to: offset) else { return false }
        runner.contentUnsent(sent - offset)
        return true
    }

    func trusts(_ certificates: [[UInt8]], isTrusted: Bool) -> Bool {
        guard let trust = settings.route.trust else { return isTrusted }
        let origin = settings.wire.origin
        let goesOn = trust.evaluate(
            TrustPolicy.Evaluation(
                origin: origin, certificates: certificates, isTrusted: isTrusted))
        if goesOn, !isTrusted { runner.loop.overruled.insert(origin) }
        return goesOn
    }

    private func fail(_ error: ClientError) -> Bool {
        failure = failure ?? error
        return false
    }

    // MARK: pausing, outside of callbacks

    /// Brings libcurl to what the runner wants.
    func applyHolds(stopsAtOnce: Bool) {
        let receiving = runner.holdsReceiving && (receivingIsPaused || stopsAtOnce)
        let sending = runner.holdsSending && (sendingIsPaused || stopsAtOnce)
        guard receiving != receivingIsPaused || sending != sendingIsPaused else { return }
        if receivingIsPaused, !receiving { touch() }
        receivingIsPaused = receiving
        sendingIsPaused = sending
        handle.pause(receiving: receiving, sending: sending)
    }

    /// There are pieces again after a read has found none.
    func resumeSending() {
        guard sendingIsPaused, !runner.holdsSending else { return }
        sendingIsPaused = false
        handle.pause(receiving: receivingIsPaused, sending: false)
    }

    /// Whether nothing can be expected to move because this side does not want it to.
    var isIdleByIntention: Bool {
        receivingIsPaused || (sendingIsPaused && !(upload?.isAtEnd ?? true))
    }
}
