internal import HTTPCodecs
package import HTTPParser

/// An event of a task, as ``TransactionMachine/handle(_:at:)`` takes it.
package enum TransactionInput: Sendable {
    /// The task starts, with a request that has the session's fields.
    case started(ClientRequest, TransactionLimits)
    /// The request was prepared, or cannot be sent.
    case prepared(ClientError?)
    /// The content of the request is ready, or cannot be opened.
    case contentOpened(ClientError?)
    /// The queue has admitted the request.
    case admitted
    /// The head of the response is complete.
    case head(ClientResponse, HeadFacts)
    /// Content that is discarded has arrived, in bytes.
    case content(Int)
    /// The response is being delivered, or cannot be.
    case deliveryBegan(ClientError?)
    /// A partial file that turned out to be complete was accepted, or could not be.
    case fileAccepted(Result<ClientResponse, ClientError>)
    /// The task has become a download.
    case becameDownload(ClientError?)
    /// The download's file is ready for the rest of the content.
    case downloadContinued
    /// The transfer has ended on its own.
    case ended(TransactionEnding)
    /// The transfer was ended because of an error, or could not begin.
    indirect case failed(TransactionFailure)
    /// A proxy refused to make a tunnel.
    indirect case tunnelRefused(ClientResponse, TransactionFailure)
    /// All content was delivered, or the last of it could not be.
    case contentFinished(TransactionFailure?)
    /// A question has its answer. Answers to older questions are ignored.
    case answered(TransactionAnswer, to: Int)
    /// A deadline may have passed.
    case time(TransferProgressTimes?)
    case suspended
    case resumed
    /// Reasons that were passed to ``TransactionMachine/pause(_:)`` no longer apply.
    case released(PauseReasons)
    case cancelled
}

/// The next action of ``TransactionRunner``. Most actions lead to an input, immediately or later.
package enum TransactionAction: Sendable {
    case none
    /// Makes the request the task's current one and checks its fields; leads to `prepared`.
    case prepare(ClientRequest)
    /// Asks the policy or the delegate; leads to `answered`, unless a deadline passes before.
    case ask(TransactionQuestion, number: Int)
    /// Makes the content of the request ready, or reuses content that was not read; leads to
    /// `contentOpened`. A file is checked and closed again: `send` opens it.
    case openContent(ClientRequest, reuses: Bool)
    /// Puts the request into the queue; leads to `admitted`.
    case enqueue(ClientRequest)
    /// Removes the request from the queue.
    case leaveQueue
    /// Sends the request; leads to `head`, `tunnelRefused`, `ended` or `failed`.
    case send(ClientRequest, to: ConnectTarget?)
    /// Begins to deliver the response; leads to `deliveryBegan`.
    case deliver(ClientResponse, StoragePlan?)
    /// Reads the rest of the response, so that the connection can be reused, or ends the transfer.
    case discard(stops: Bool)
    /// Begins to deliver a stored response; leads to `deliveryBegan`.
    indirect case serve(StoredAnswer)
    /// Delivers content that did not come from a connection; leads to `contentFinished`.
    case pour(StoredContent, trailers: HTTPFields)
    /// Finishes the delivery; leads to `contentFinished`.
    case finishContent(trailers: HTTPFields)
    /// Accepts a partial file as complete; leads to `fileAccepted`.
    case acceptFile(ClientResponse)
    /// Turns the task into a download; leads to `becameDownload`.
    case becomeDownload(path: String?)
    /// Prepares the file for the rest of the content; leads to `downloadContinued`.
    indirect case continueDownload(ResumeData)
    /// Ends the transfer with an error; leads to `failed`, after a running callback of libcurl.
    case abort(ClientError)
    /// Leaves the queue and ends the transfer, with an error that gets the phase of the transfer;
    /// leads to `failed`.
    case stop(ClientError)
    /// Applies the pauses to the connection, and hands on the content that has waited.
    case applyPauses(atOnce: Bool)
    /// Checks the deadlines at that time, or earlier.
    case wait(until: Int64)
    /// The task is over.
    case complete(ClientError?)
}

/// Facts about a response that the machine needs besides its head.
package struct HeadFacts: Sendable {
    // Boxed to keep inputs small, which are passed by value: most responses have no resume data.
    private var resumeData: CopyOnWriteBox<ResumeData>?
    /// The sink's resume data, with which the request asked for the rest.
    package var continuation: ResumeData? {
        get { resumeData?.values }
        set { resumeData = newValue.map { CopyOnWriteBox($0) } }
    }
    /// Whether the request had `Expect: 100-continue`.
    package var hasExpectation = false
    /// How many bytes of content were sent.
    package var sentBytes: Int64 = 0
    /// The length of the content, if the server announced it.
    package var contentLength: Int64?
    /// Whether the application has accepted this server's invalid certificate.
    package var isOverruled = false

    package init() {}
}

/// How a transfer failed.
package struct TransactionFailure: Sendable {
    package var error: ClientError
    /// The state of a download's file.
    package var download: DownloadState?
    /// Whether the server has kept a part of the upload. The upload is not sent again from its
    /// beginning.
    package var isKeptByServer = false

    package init(_ error: ClientError, download: DownloadState? = nil) {
        self.error = error
        self.download = download
    }
}

/// How a transfer ended.
package struct TransactionEnding: Sendable {
    private var box: CopyOnWriteBox<TransactionFailure>?
    /// Nil for a complete response.
    package var failure: TransactionFailure? { box?.values }
    package var trailers: HTTPFields

    package init(_ failure: TransactionFailure? = nil, trailers: HTTPFields = HTTPFields()) {
        box = failure.map { CopyOnWriteBox($0) }
        self.trailers = trailers
    }
}

/// The progress of a download.
package struct DownloadState: Sendable {
    /// Whether the partial file is open.
    package var isOpen: Bool
    /// The length of the open file.
    package var offset: Int64
    private var rest: CopyOnWriteBox<ResumeData>?
    /// The data with which the rest can be requested.
    package var resumeData: ResumeData? { rest?.values }

    package init(isOpen: Bool, offset: Int64, resumeData: ResumeData?) {
        self.isOpen = isOpen
        self.offset = offset
        rest = resumeData.map { CopyOnWriteBox($0) }
    }
}

/// The reasons to receive no content. `suspension` also stops sending.
package struct PauseReasons: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The task is suspended.
    package static let suspension = PauseReasons(rawValue: 1)
    /// The reader of the content has to catch up.
    package static let reader = PauseReasons(rawValue: 2)
    /// The cache has to catch up.
    package static let recorder = PauseReasons(rawValue: 4)
    /// The rate of ``ClientConfiguration/receiveBytesPerSecond`` is reached for the moment.
    package static let rate = PauseReasons(rawValue: 8)
}
