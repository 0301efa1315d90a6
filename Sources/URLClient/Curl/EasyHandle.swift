internal import CCurlShims
internal import HTTPCodecs
internal import HTTPParser

/// libcurl's easy handle: the settings of one transfer. It is reused, and settings that the next transfer
/// shares with the last one stay.
@safe
final class EasyHandle {
    let raw: UnsafeMutableRawPointer
    private let multi: MultiHandle
    private let errorText: UnsafeMutablePointer<CChar>
    private let trust: UnsafeMutablePointer<http_curl_trust>
    private let stream: UnsafeMutablePointer<http_curl_stream>
    /// The URL, taken apart.
    private var parsed: OpaquePointer?
    private var lists: [UnsafeMutablePointer<curl_slist>] = unsafe []
    private var fields: UnsafeMutablePointer<curl_slist>?
    /// The first setting that was refused.
    private(set) var refusal: CURLcode?
    /// The transfer that it serves, which retains the handle.
    unowned(unsafe) var transfer: (any TransferCallbacks)?

    // Settings that remain for the next transfer. Nil for a new or reset handle.
    var route: TransferRoute?
    var url = ""
    var sentFields: HTTPFields?
    /// Whether there are settings that must not stay.
    var isSpent = false

    /// How a transfer uses a socket.
    struct SocketUse {
        /// The socket that libcurl named last; negative for none.
        var socket: Int32 = -1
        /// Whether libcurl has named none yet.
        var isStarting = false
        /// Whether the response arrived before.
        var isAnswered = false
    }

    /// Of the multi handle, which one thread at a time uses.
    @exclusivity(unchecked)
    var use = SocketUse()
    /// Identifies it among the users of a socket.
    var identity: UInt { unsafe UInt(bitPattern: raw) }

    /// - Parameter multi: whose connections it uses, then and for ever.
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

    /// Forgets all settings. Connections stay with the multi handle.
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

    /// Forgets the lines of the request's fields, which then have to be set again.
    func freeFields() {
        unsafe curl_slist_free_all(fields)
        unsafe fields = nil
    }

    /// libcurl's message about the error, often empty.
    var errorMessage: String {
        unsafe errorText[0] == 0 ? "" : String(cString: errorText)
    }

    /// Begins to serve a transfer.
    func attach(_ transfer: any TransferCallbacks) {
        unsafe self.transfer = transfer
        unsafe errorText[0] = 0
        unsafe trust.pointee.begun = 0
        unsafe stream.pointee = http_curl_stream()
        unsafe stream.pointee.easy = raw
        guard transfer.trace != nil else { return }
        unsafe stream.pointee.trace = unsafe receiveTrace
        unsafe stream.pointee.context = Unmanaged.passUnretained(self).toOpaque()
        watchStream()
    }

    /// The transfer is over, and gone from the multi handle.
    func detach() {
        unsafe transfer = nil
        if isSpent || refusal != nil { reset() }
    }

    /// Sets what holds for all transfers: callbacks, and that messages are kept.
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
        // CURLOPT_QUICK_EXIT, which older headers lack: otherwise libcurl waits for a name lookup that
        // is given up, and nothing else happens in the loop meanwhile.
        if CurlFeatures.current.abandonsLookups { set(CURLoption(322), 1) }
    }

    /// Has the transfer asked before the request goes out, each time that it does.
    func watchStart() {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe note(http_curl_set_start(raw, context, startRequest))
    }

    /// Notes what the server says of the request, until the settings are forgotten: libcurl writes
    /// messages for it, so that it is for requests alone which must not be done twice.
    func watchStream() {
        unsafe http_curl_watch_stream(raw, stream)
    }

    /// Whether the server has said that it did nothing about the request, and will not (RFC 9113
    /// section 8.7).
    var isUnprocessed: Bool { unsafe stream.pointee.is_unprocessed != 0 }

    /// Notes when TLS begins and, if that is wanted, has the transfer asked about certificates.
    func watchTLS(asksAboutTrust: Bool) {
        unsafe trust.pointee = http_curl_trust()
        if asksAboutTrust {
            unsafe trust.pointee.context = Unmanaged.passUnretained(self).toOpaque()
            unsafe trust.pointee.decide = decideTrust
        }
        let code = unsafe http_curl_set_trust(raw, trust)
        if asksAboutTrust { note(code) }
    }

    /// When TLS was begun on a new connection; 0 before.
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

    /// The same for a line that is no UTF-8.
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

    /// Stops and starts the directions. Data that was held back may be delivered before it returns,
    /// so it must not be called in a callback.
    func pause(receiving: Bool, sending: Bool) {
        let bits = (receiving ? CURLPAUSE_RECV : 0) | (sending ? CURLPAUSE_SEND : 0)
        unsafe curl_easy_pause(raw, bits)
    }

    // MARK: what is known of it

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

    /// How a connection is secured.
    struct Security: Sendable {
        /// The version of TLS.
        let version: String
        let cipher: String
    }

    /// How the connection is secured, while it is there.
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

// The callbacks. Each is called with the handle as context, which is there as long as its transfer.

private let pauseMark = 0x1000_0001
private let abortMark = 0x1000_0000

/// The transfer that a callback is for.
@inline(__always)
private func findTransfer(_ context: UnsafeMutableRawPointer?) -> (any TransferCallbacks)? {
    guard let context = unsafe context else { return nil }
    let handle = unsafe Unmanaged<EasyHandle>.fromOpaque(context)
    return unsafe handle._withUnsafeGuaranteedRef { unsafe $0.transfer }
}

private func receiveContent(
    data: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
    guard let transfer = unsafe findTransfer(context) else { return 0 }
    let bytes = unsafe UnsafeRawBufferPointer(start: data, count: size * count)
    let answer = unsafe transfer.received(content: bytes)
    return switch answer {
    case .taken: bytes.count
    case .paused: pauseMark
    // Any other count than that of the bytes ends the transfer.
    case .failed: size * count == 0 ? 1 : 0
    }
}

private func receiveTrace(
    context: UnsafeMutableRawPointer?, kind: CInt, text: UnsafePointer<CChar>?, count: Int
) {
    guard let trace = unsafe findTransfer(context)?.trace else { return }
    let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: text, count: count))
    trace(ClientTrace(kind: kind == 0 ? .note : kind == 1 ? .received : .sent, bytes: bytes))
}

private func receiveLine(
    data: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
    guard let transfer = unsafe findTransfer(context) else { return 0 }
    let bytes = unsafe UnsafeRawBufferPointer(start: data, count: size * count)
    return unsafe transfer.received(line: bytes) ? bytes.count : 0
}

private func readContent(
    data: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
    guard let transfer = unsafe findTransfer(context) else { return abortMark }
    let room = unsafe UnsafeMutableRawBufferPointer(start: data, count: size * count)
    let answer = unsafe transfer.read(into: room)
    return switch answer {
    case .bytes(let count): count
    case .paused: pauseMark
    case .failed: abortMark
    }
}

private func seekContent(
    context: UnsafeMutableRawPointer?, offset: curl_off_t, origin: Int32
) -> Int32 {
    guard let transfer = unsafe findTransfer(context), origin == 0 else { return 1 }
    return transfer.seek(to: Int64(offset)) ? 0 : 1
}

private func startRequest(
    context: UnsafeMutableRawPointer?, remote: UnsafeMutablePointer<CChar>?,
    local: UnsafeMutablePointer<CChar>?, remotePort: Int32, localPort: Int32
) -> Int32 {
    guard let transfer = unsafe findTransfer(context) else { return 1 }
    return transfer.mayStart() ? 0 : 1
}

private func decideTrust(
    context: UnsafeMutableRawPointer?,
    chain: UnsafePointer<UnsafePointer<UInt8>?>?, lengths: UnsafePointer<Int>?, count: Int,
    isTrusted: Int32
) -> Int32 {
    guard let transfer = unsafe findTransfer(context), let chain = unsafe chain,
        let lengths = unsafe lengths
    else { return 0 }
    let certificates = (0..<count).map { index in
        unsafe Array(UnsafeBufferPointer(start: chain[index], count: lengths[index]))
    }
    return transfer.trusts(certificates, isTrusted: isTrusted != 0) ? 1 : 0
}
