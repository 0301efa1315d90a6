/// The receiver of libcurl's callbacks for one transfer. A receiver overrides the callbacks that its
/// transfer needs; the others stand for a transfer without content.
///
/// All calls except ``ended(_:)`` are made inside of libcurl, where no transfer may be added,
/// removed or released. So a callback need not retain its receiver, which a protocol would do.
class TransferReceiver {
    /// Called before the request is sent. libcurl repeats some requests.
    /// - Returns: whether the request may be sent.
    func mayStart() -> Bool { true }

    /// Called with a line of a head, including its line ending.
    /// - Returns: whether the transfer continues.
    func received(line: UnsafeRawBufferPointer) -> Bool { true }

    /// Called with content of the response.
    func received(content: UnsafeRawBufferPointer) -> ContentAnswer { .taken }

    /// Called for content of the request.
    func read(into room: UnsafeMutableRawBufferPointer) -> UploadSource.Answer { .bytes(0) }

    /// Called to send the content of the request again from an offset.
    /// - Returns: whether that is possible.
    func seek(to offset: Int64) -> Bool { false }

    /// Called with the server's certificates in DER, the server's own first.
    /// - Returns: whether they are accepted.
    func trusts(_ certificates: [[UInt8]], isTrusted: Bool) -> Bool { isTrusted }

    /// Whether content is being sent while part of the response is still to come.
    var needsAnswer: Bool { false }

    /// Called when the server has closed its side while content is sent.
    func connectionEnded() {}

    /// Receives the notes of libcurl and the heads that it sends and reads; `nil` for none.
    var trace: (@Sendable (ClientTrace) -> Void)? { nil }

    /// Called when the transfer has ended. It is still in libcurl.
    func ended(_ code: TransferResult.Code) {}
}

/// The treatment of received content.
enum ContentAnswer { case taken, paused, failed }
