internal import CCurlShims
internal import HTTPCodecs
internal import HTTPParser

/// libcurl's easy handle: the settings of one transfer. Handles are reused, and keep the settings
/// that the next transfer shares with the last one.
@safe
final class EasyHandle {
    let raw: UnsafeMutableRawPointer
    private let multi: MultiHandle
    private let errorText: UnsafeMutablePointer<CChar>
    private let trust: UnsafeMutablePointer<http_curl_trust>
    private let stream: UnsafeMutablePointer<http_curl_stream>
    /// The parsed URL.
    private var parsed: OpaquePointer?
    private var lists: [UnsafeMutablePointer<curl_slist>] = unsafe []
    private var fields: UnsafeMutablePointer<curl_slist>?
    /// The first setting that was refused.
    private(set) var refusal: CURLcode?
    /// The receiver of the current transfer, which retains the handle.
    private(set) var receiver: Unmanaged<TransferReceiver>?

    // Settings that remain for the next transfer. Nil for a new or reset handle.
    var route: TransferRoute?
    var url = ""
    var sentFields: HTTPFields?
    /// Whether there are settings that the next transfer must not keep.
    var isSpent = false

    /// How a transfer uses a socket.
    struct SocketUse {
        /// The socket that libcurl named last; negative for none.
        var socket: Int32 = -1
        /// Whether libcurl has not named a socket yet.
        var isStarting = false
        /// Whether the response arrived before libcurl named a socket.
        var isAnswered = false
    }

    /// Changed by the multi handle, which one thread at a time uses.
    @exclusivity(unchecked)
    var use = SocketUse()
    /// Identifies the handle among the users of a socket.
    var identity: UInt { unsafe UInt(bitPattern: raw) }

    /// - Parameter multi: the multi handle whose connections the handle always uses.
    init?(for multi: MultiHandle) {
        guard let raw = unsafe curl_easy_init() else { return nil }
        unsafe self.raw = unsafe raw
        self.multi = multi
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        unsafe trust = .allocate(capacity: 1)
        unsafe trust.initialize(to: http_curl_trust())
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: http_curl_stream())
    }

    deinit {
        unsafe curl_easy_cleanup(raw)
        unsafe curl_url_cleanup(parsed)
        freeLists()
        unsafe errorText.deallocate()
        unsafe trust.deallocate()
        unsafe stream.deallocate()
    }

    /// Resets all settings. Connections stay with the multi handle.
    func reset() {
        unsafe curl_easy_reset(raw)
        freeLists()
        refusal = nil
        (route, url, sentFields, isSpent) = (nil, "", nil, false)
        unsafe trust.pointee = http_curl_trust()
    }

    private func freeLists() {
        while let list = unsafe lists.popLast() { unsafe curl_slist_free_all(list) }
        freeFields()
    }

    /// Frees the lines of the request's fields, which then have to be set again.
    func freeFields() {
        unsafe curl_slist_free_all(fields)
        unsafe fields = nil
    }

    /// libcurl's message about the error, often empty.
    var errorMessage: String {
        unsafe errorText[0] == 0 ? "" : String(cString: errorText)
    }

    /// Assigns the handle to a transfer.
    func attach(_ receiver: TransferReceiver) {
        unsafe self.receiver = Unmanaged.passUnretained(receiver)
        unsafe errorText[0] = 0
        unsafe trust.pointee.begun = 0
        unsafe stream.pointee = http_curl_stream()
        unsafe stream.pointee.easy = raw
        guard receiver.trace != nil else { return }
        unsafe stream.pointee.trace = unsafe receiveTrace
        unsafe stream.pointee.context = Unmanaged.passUnretained(self).toOpaque()
        watchStream()
    }

    /// Ends the use by a transfer, which must no longer be in the multi handle.
    func detach() {
        unsafe receiver = nil
        if isSpent || refusal != nil { reset() }
    }

    /// Sets the options that all transfers share: callbacks, the buffer of error messages, and
    /// others.
    func prepare() {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe http_curl_set_callbacks(
            raw, context, receiveContent, receiveLine, readContent, seekContent)
        unsafe http_curl_set_socket_callbacks(raw, multi.sockets)
        unsafe http_curl_set_pointer(raw, CURLOPT_ERRORBUFFER, errorText)
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_NOPROGRESS, 1)
        set(CURLOPT_PATH_AS_IS, 1)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // CURLOPT_QUICK_EXIT, which older headers lack. Without it, libcurl waits for an abandoned
        // name lookup, which blocks the loop.
        if CurlFeatures.current.abandonsLookups { set(CURLoption(322), 1) }
    }

    /// Makes libcurl call `mayStart()` each time before it sends the request.
    func watchStart() {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe note(http_curl_set_start(raw, context, startRequest))
    }

    /// Watches for the server's refusal to process the request, until the settings are reset.
    /// libcurl has to write messages for this, so it is used only for requests that must not be
    /// repeated, and for traces.
    func watchStream() {
        unsafe http_curl_watch_stream(raw, stream)
    }

    /// Whether the server has reported that it did not process the request and never will (RFC 9113
    /// section 8.7).
    var isUnprocessed: Bool { unsafe stream.pointee.is_unprocessed != 0 }

    /// Notes when TLS begins. With `asksAboutTrust`, the transfer decides about certificates.
    func watchTLS(asksAboutTrust: Bool) {
        unsafe trust.pointee = http_curl_trust()
        if asksAboutTrust {
            unsafe trust.pointee.context = Unmanaged.passUnretained(self).toOpaque()
            unsafe trust.pointee.decide = decideTrust
        }
        let code = unsafe http_curl_set_trust(raw, trust)
        if asksAboutTrust { note(code) }
    }

    /// When TLS was begun on a new connection, in nanoseconds of the monotonic clock; 0 before.
    var tlsStart: Int64 { unsafe trust.pointee.begun }

    // MARK: settings

    private func note(_ code: CURLcode) {
        if code != CURLE_OK, refusal == nil { refusal = code }
    }

    func set(_ option: CURLoption, _ value: Int) {
        unsafe note(http_curl_set_long(raw, option, value))
    }

    func set(_ option: CURLoption, size: Int64) {
        unsafe note(http_curl_set_size(raw, option, size))
    }

    func set(_ option: CURLoption, _ text: String) {
        unsafe note(http_curl_set_string(raw, option, text))
    }

    func setURL(_ text: String) {
        unsafe note(http_curl_set_url(raw, &parsed, text))
    }

    func set(_ option: CURLoption, bytes: [UInt8]) {
        let code = unsafe bytes.withUnsafeBytes { bytes in
            unsafe http_curl_set_blob(raw, option, bytes.baseAddress, bytes.count)
        }
        note(code)
    }

    func set(_ option: CURLoption, list: [String]) {
        var head: UnsafeMutablePointer<curl_slist>?
        for line in list { unsafe head = unsafe curl_slist_append(head, line) ?? head }
        guard let head = unsafe head else { return }
        unsafe lists.append(head)
        unsafe note(http_curl_set_list(raw, option, head))
    }

    /// Adds a line to the request's fields.
    func addField(_ line: String) {
        unsafe fields = unsafe curl_slist_append(fields, line) ?? fields
    }

    /// Adds a line that is not UTF-8 to the request's fields.
    func addField(_ line: [UInt8]) {
        unsafe (line + [0]).withUnsafeBytes { bytes in
            guard let text = unsafe bytes.bindMemory(to: CChar.self).baseAddress else { return }
            unsafe fields = unsafe curl_slist_append(fields, text) ?? fields
        }
    }

    /// Sets the lines that were added.
    func setFields() {
        unsafe note(http_curl_set_list(raw, CURLOPT_HTTPHEADER, fields))
    }

    // MARK: the transfer

    /// Pauses and resumes receiving and sending. Held data may be delivered during the call, so it
    /// must not be made in a callback.
    func pause(receiving: Bool, sending: Bool) {
        let bits = (receiving ? CURLPAUSE_RECV : 0) | (sending ? CURLPAUSE_SEND : 0)
        unsafe curl_easy_pause(raw, bits)
    }

    // MARK: information

    func number(_ info: CURLINFO) -> Int {
        var value = 0
        unsafe http_curl_get_long(raw, info, &value)
        return value
    }

    func size(_ info: CURLINFO) -> Int64 {
        var value: Int64 = 0
        unsafe http_curl_get_size(raw, info, &value)
        return value
    }

    func text(_ info: CURLINFO) -> String {
        var value: UnsafePointer<CChar>?
        unsafe http_curl_get_string(raw, info, &value)
        return unsafe value.map { unsafe String(cString: $0) } ?? ""
    }

    /// The TLS version and cipher of a connection.
    struct Security: Sendable {
        /// The version of TLS.
        let version: String
        let cipher: String
    }

    /// The TLS version and cipher of the connection; nil without TLS, or without a connection.
    var security: Security? {
        var version: UnsafePointer<CChar>?
        var cipher: UnsafePointer<CChar>?
        guard unsafe http_curl_tls(raw, &version, &cipher) != 0, let version = unsafe version else {
            return nil
        }
        return unsafe Security(
            version: String(cString: version),
            cipher: cipher.map { unsafe String(cString: $0) } ?? "")
    }
}

// The callbacks. The context of each is the handle, which lives as long as its transfer.

private let pauseMark = 0x1000_0001
private let abortMark = 0x1000_0000

/// Passes the receiver of a callback to `body`; nil if the handle has none.
@inline(__always)
private func withReceiver<Result>(
    _ context: UnsafeMutableRawPointer?, _ body: (TransferReceiver) -> Result
) -> Result? {
    guard let context = unsafe context else { return nil }
    let handle = unsafe Unmanaged<EasyHandle>.fromOpaque(context)
    let receiver = unsafe handle._withUnsafeGuaranteedRef { unsafe $0.receiver }
    return unsafe receiver?._withUnsafeGuaranteedRef { body($0) }
}

private func receiveContent(
    data: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
    let bytes = unsafe UnsafeRawBufferPointer(start: data, count: size * count)
    let answer = unsafe withReceiver(context) { unsafe $0.received(content: bytes) }
    return switch answer {
    case .taken: bytes.count
    case .paused: pauseMark
    // Any other count than that of the bytes ends the transfer.
    case .failed, nil: size * count == 0 ? 1 : 0
    }
}

private func receiveTrace(
    context: UnsafeMutableRawPointer?, kind: CInt, text: UnsafePointer<CChar>?, count: Int
) {
    guard let trace = unsafe withReceiver(context, { $0.trace }) ?? nil else { return }
    let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: text, count: count))
    trace(ClientTrace(kind: kind == 0 ? .note : kind == 1 ? .received : .sent, bytes: bytes))
}

private func receiveLine(
    data: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
    let bytes = unsafe UnsafeRawBufferPointer(start: data, count: size * count)
    let isTaken = unsafe withReceiver(context) { unsafe $0.received(line: bytes) }
    return isTaken == true ? bytes.count : 0
}

private func readContent(
    data: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
    let room = unsafe UnsafeMutableRawBufferPointer(start: data, count: size * count)
    let answer = unsafe withReceiver(context) { unsafe $0.read(into: room) }
    return switch answer {
    case .bytes(let count): count
    case .paused: pauseMark
    case .failed, nil: abortMark
    }
}

private func seekContent(
    context: UnsafeMutableRawPointer?, offset: curl_off_t, origin: Int32
) -> Int32 {
    guard origin == 0 else { return 1 }
    return unsafe withReceiver(context) { $0.seek(to: Int64(offset)) } == true ? 0 : 1
}

private func startRequest(
    context: UnsafeMutableRawPointer?, remote: UnsafeMutablePointer<CChar>?,
    local: UnsafeMutablePointer<CChar>?, remotePort: Int32, localPort: Int32
) -> Int32 {
    unsafe withReceiver(context) { $0.mayStart() } == true ? 0 : 1
}

private func decideTrust(
    context: UnsafeMutableRawPointer?,
    chain: UnsafePointer<UnsafePointer<UInt8>?>?, lengths: UnsafePointer<Int>?, count: Int,
    isTrusted: Int32
) -> Int32 {
    guard let chain = unsafe chain, let lengths = unsafe lengths else { return 0 }
    let certificates = (0..<count).map { index in
        unsafe Array(UnsafeBufferPointer(start: chain[index], count: lengths[index]))
    }
    let trusts = unsafe withReceiver(context) {
        $0.trusts(certificates, isTrusted: isTrusted != 0)
    }
    return trusts == true ? 1 : 0
}
