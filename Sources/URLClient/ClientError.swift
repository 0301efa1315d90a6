#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Why a task did not end well.
///
/// A response with any status is no error: 404 is an answer. Downloads to a path are the exception,
/// because an error page would replace a file.
public struct ClientError: Error, Sendable {
    /// The kind of the error.
    public var kind: Kind {
        get { parts.values.kind }
        set { parts.values.kind = newValue }
    }
    /// A sentence for people.
    public var message: String {
        get { parts.values.message }
        set { parts.values.message = newValue }
    }
    /// How far the transaction had come.
    public var phase: Phase {
        get { parts.values.phase }
        set { parts.values.phase = newValue }
    }
    /// How many bytes of the request's content were sent.
    public var bytesSent: Int64 {
        get { parts.values.bytesSent }
        set { parts.values.bytesSent = newValue }
    }
    /// How many bytes of the response's content had come.
    public var bytesReceived: Int64 {
        get { parts.values.bytesReceived }
        set { parts.values.bytesReceived = newValue }
    }
    /// Whether it is certain that the server has done nothing, so that any request can be sent
    /// again.
    public var isSafeToRetry: Bool {
        get { parts.values.isSafeToRetry }
        set { parts.values.isSafeToRetry = newValue }
    }
    /// The URL of the transaction.
    public var url: URL? {
        get { parts.values.url }
        set { parts.values.url = newValue }
    }
    /// With which a download goes on where it stopped, if that is possible.
    public var resumeData: ResumeData? {
        get { parts.values.resumeData }
        set { parts.values.resumeData = newValue }
    }
    /// libcurl's number, which is the exit status of its program; 0 where libcurl had no part.
    public var curlCode: Int32 {
        get { parts.values.curlCode }
        set { parts.values.curlCode = newValue }
    }
    /// The error that an application's hook threw.
    public var underlying: (any Error)? {
        get { parts.values.underlying }
        set { parts.values.underlying = newValue }
    }

    private struct Values: Sendable {
        var kind: Kind
        var message: String
        var phase: Phase
        var bytesSent: Int64
        var bytesReceived: Int64
        var isSafeToRetry: Bool
        var url: URL?
        var resumeData: ResumeData?
        var curlCode: Int32
        var underlying: (any Error)?
    }

    private var parts: CopyOnWriteBox<Values>

    /// Creates an error.
    public init(
        _ kind: Kind, _ message: String = "", phase: Phase = .preparing, bytesSent: Int64 = 0,
        bytesReceived: Int64 = 0, isSafeToRetry: Bool = false, url: URL? = nil,
        resumeData: ResumeData? = nil, curlCode: Int32 = 0, underlying: (any Error)? = nil
    ) {
        parts = CopyOnWriteBox(
            Values(
                kind: kind, message: message, phase: phase, bytesSent: bytesSent,
                bytesReceived: bytesReceived, isSafeToRetry: isSafeToRetry, url: url,
                resumeData: resumeData, curlCode: curlCode, underlying: underlying))
    }

    /// Whether the task was cancelled.
    public var isCancelled: Bool { kind == .cancelled }
    /// Whether something took too long.
    public var isTimeout: Bool {
        if case .timedOut = kind { true } else { false }
    }
}

extension ClientError: CustomStringConvertible {
    /// The kind of the error, its place, and the known details.
    public var description: String {
        var text = kind.text
        if !message.isEmpty { text += ": \(message)" }
        if let url { text += " (\(Self.shown(url.absoluteString)), while \(phase.rawValue))" }
        return text
    }

    /// A URL, or a text that is to be one, without the name and the password in it.
    static func shown(_ text: String) -> String {
        let bytes = text.utf8
        let first = bytes.prefix { !endsAuthority($0) && $0 != UInt8(ascii: "@") }
        let colon = first.firstIndex(of: UInt8(ascii: ":"))
        var rest = bytes[(colon.map { bytes.index(after: $0) } ?? bytes.startIndex)...]
        if colon != nil || rest.starts(with: "//".utf8) {
            rest = rest.drop { $0 == UInt8(ascii: "/") }
        }
        let authority = rest.prefix { !endsAuthority($0) }
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return text }
        return String(text[..<rest.startIndex]) + String(text[bytes.index(after: at)...])
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }
}
