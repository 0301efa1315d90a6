#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The reason why a task failed.
///
/// A status such as 404 is a response and not an error. Downloads to a path are the exception,
/// because an error page would replace a file.
public struct ClientError: Error, Sendable {
    /// The kind of the error.
    public var kind: Kind {
        get { parts.values.kind }
        set { parts.values.kind = newValue }
    }
    /// Details for a human reader; may be empty.
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
    /// How many bytes of the response's content were received.
    public var bytesReceived: Int64 {
        get { parts.values.bytesReceived }
        set { parts.values.bytesReceived = newValue }
    }
    /// Whether the server has certainly not processed the request: it can be sent again, with any
    /// method.
    public var isSafeToRetry: Bool {
        get { parts.values.isSafeToRetry }
        set { parts.values.isSafeToRetry = newValue }
    }
    /// The URL of the transaction.
    public var url: URL? {
        get { parts.values.url }
        set { parts.values.url = newValue }
    }
    /// The data to resume a download; nil if it cannot be resumed.
    public var resumeData: ResumeData? {
        get { parts.values.resumeData }
        set { parts.values.resumeData = newValue }
    }
    /// libcurl's error number, which is also the exit status of the program `curl`; 0 for an error
    /// that libcurl did not report.
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
    /// Whether a time limit was exceeded.
    public var isTimeout: Bool {
        if case .timedOut = kind { true } else { false }
    }
}

extension ClientError: CustomStringConvertible {
    /// The kind and the message, then the URL and the phase if the URL is known.
    public var description: String {
        var text = kind.text
        if !message.isEmpty { text += ": \(message)" }
        if let url { text += " (\(Self.shown(url.absoluteString)), while \(phase.rawValue))" }
        return text
    }

    /// A URL, or a text that may be one, without user name and password.
    static func shown(_ text: String) -> String {
        let bytes = text.utf8
        let first = bytes.prefix { !WireURL.endsAuthority($0) && $0 != UInt8(ascii: "@") }
        let colon = first.firstIndex(of: UInt8(ascii: ":"))
        var rest = bytes[(colon.map { bytes.index(after: $0) } ?? bytes.startIndex)...]
        if colon != nil || rest.starts(with: "//".utf8) {
            rest = rest.drop { $0 == UInt8(ascii: "/") }
        }
        let authority = rest.prefix { !WireURL.endsAuthority($0) }
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return text }
        return String(text[..<rest.startIndex]) + String(text[bytes.index(after: at)...])
    }

    /// A text that is not a valid URL, without what may be a user name and a password. A delimiter in
    /// a password that is not percent-encoded is a usual reason for that, so all up to the last at sign
    /// is left out.
    static func shownUnparsed(_ text: String) -> String {
        let bytes = text.utf8
        guard let at = bytes.lastIndex(of: UInt8(ascii: "@")) else { return text }
        let scheme = text.firstRange(of: "://").map { String(text[..<$0.upperBound]) } ?? ""
        let isBefore = scheme.utf8.count <= bytes.distance(from: bytes.startIndex, to: at)
        return (isBefore ? scheme : "") + String(text[bytes.index(after: at)...])
    }
}
