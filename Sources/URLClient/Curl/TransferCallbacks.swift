/// The calls of libcurl for one transfer.
///
/// All but ``ended(_:)`` are made inside of libcurl, where no transfer may be added or removed.
protocol TransferCallbacks: AnyObject {
    /// The request is about to go out; libcurl repeats some requests.
    /// - Returns: whether it may.
    func mayStart() -> Bool
    /// A line of a head has come, with its end.
    /// - Returns: whether the transfer goes on.
    func received(line: UnsafeRawBufferPointer) -> Bool
    /// Content has come.
    func received(content: UnsafeRawBufferPointer) -> ContentAnswer
    /// Content of the request is wanted.
    func read(into room: UnsafeMutableRawBufferPointer) -> UploadSource.Answer
    /// Content of the request is wanted again from an offset.
    /// - Returns: whether it can be had.
    func seek(to offset: Int64) -> Bool
    /// The server has presented certificates.
    /// - Returns: whether they are accepted.
    func trusts(_ certificates: [[UInt8]], isTrusted: Bool) -> Bool
    /// Whether content is being sent while part of the response is still to come.
    var needsAnswer: Bool { get }
    /// The server has ended its side while content is sent.
    func connectionEnded()
    /// Receives the notes of libcurl and the heads that it sends and reads; `nil` for none.
    var trace: (@Sendable (ClientTrace) -> Void)? { get }
    /// The transfer is over, and still in libcurl.
    func ended(_ code: TransferResult.Code)
}

/// The treatment of content that has come.
enum ContentAnswer { case taken, paused, failed }
