internal import ToolkitSystem

/// Removes the header of the PROXY protocol from the bytes of a transport. It is confined to the
/// connection's loop.
final class ProxyTransport: Transport {
    private let lower: any Transport
    /// `nil` once the header is complete, or the connection is closed.
    private var owner: (any TransportOwner)?
    private var parser: ProxyHeaderParser? = ProxyHeaderParser()

    init(over lower: any Transport, owner: any TransportOwner) {
        self.lower = lower
        self.owner = owner
    }

    var interest: PollInterest { lower.interest }
    var receivedBytes: Int64 { lower.receivedBytes }
    var unacknowledgedBytes: Int? { lower.unacknowledgedBytes }

    func receive(into room: UnsafeMutableRawBufferPointer) -> IOResult {
        let result = unsafe lower.receive(into: room)
        guard parser != nil, case .done(let count) = result, count > 0 else { return result }
        return unsafe takeHeader(UnsafeMutableRawBufferPointer(rebasing: room[..<count]))
    }

    /// - Returns: the number of bytes after the header, which were moved to the front.
    private func takeHeader(_ bytes: UnsafeMutableRawBufferPointer) -> IOResult {
        let span = unsafe Span<UInt8>(
            _unsafeElements: UnsafeBufferPointer(bytes.bindMemory(to: UInt8.self)))
        do throws(ProxyHeaderError) {
            let taken = try parser?.append(span) ?? 0
            guard let header = parser?.header else { return .wouldBlock }
            parser = nil
            owner?.learn { $0.learn(header) }
            owner = nil
            guard taken < bytes.count else { return .wouldBlock }
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[taken...])
            unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(rest))
            return .done(bytes.count - taken)
        } catch {
            owner?.noteFailure("the header of the PROXY protocol: \(error)")
            return .invalidInput
        }
    }

    func send(_ bytes: UnsafeRawBufferPointer, more: Bool) -> IOResult {
        unsafe lower.send(bytes, more: more)
    }

    func sendFile(_ file: CInt, offset: Int64, count: Int64) -> IOResult {
        lower.sendFile(file, offset: offset, count: count)
    }

    func watch(_ interest: PollInterest) { lower.watch(interest) }
    func becameWritable() { lower.becameWritable() }
    func sendsLast() { lower.sendsLast() }
    func shutdownWriting() { lower.shutdownWriting() }
    func closesByReset() { lower.closesByReset() }

    func close() {
        owner = nil
        lower.close()
    }
}

extension TransportFacts {
    fileprivate mutating func learn(_ header: ProxyHeader) {
        guard header.command == .proxy else { return }
        learn(peer: header.peer, local: header.destination)
        guard let tls = header.tls else { return }
        let info = TLSInfo(
            version: tls.version ?? "", cipher: tls.cipher ?? "", serverName: header.authority,
            applicationProtocol: header.applicationProtocol.map {
                String(decoding: $0, as: UTF8.self)
            },
            peerCertificate: tls.isVerified
                ? tls.commonName.map { PeerCertificate(proxied: $0) } : nil)
        security = Shared(info)
    }
}

extension PeerCertificate {
    /// The certificate of a client whose proxy names only its common name. Its characters must not
    /// look like further parts of the subject.
    fileprivate init(proxied commonName: String) {
        self.init(subject: "CN=" + Self.escaped(commonName), commonName: commonName)
    }

    /// A value, escaped as in RFC 4514 section 2.4.
    private static func escaped(_ value: String) -> String {
        let scalars = value.unicodeScalars
        var text = ""
        for index in scalars.indices {
            let isFirst = index == scalars.startIndex
            let isLast = scalars.index(after: index) == scalars.endIndex
            switch scalars[index] {
            case "\0": text += "\\00"
            case ",", "+", "\"", "\\", "<", ">", ";": text += "\\\(scalars[index])"
            case " " where isFirst || isLast: text += "\\ "
            case "#" where isFirst: text += "\\#"
            default: text.unicodeScalars.append(scalars[index])
            }
        }
        return text
    }
}
