internal import HTTPCodecs
internal import HTTPParser

/// Passes content from the connection to the sink: decodes it, records it for the cache and counts
/// it.
struct ContentFlow {
    private static let pool = ContentCodingPool()

    private var decoding: Decoding?
    /// Whether a byte of coded content has arrived.
    private var hasCoded = false
    var isDecoding: Bool { decoding != nil }
    private var recorder: (any ContentRecorder)?
    /// How many bytes were passed to the sink, after content decoding.
    var delivered: Int64 = 0
    /// A stored file that is being delivered.
    var reading: StoredReading?
    /// The time until which the reader may fetch the next piece itself; nil while content is
    /// pushed.
    var pullEnd: Int64?
    /// The time until which receiving is paused to keep the rate limit; nil without a pause.
    var rateEnd: Int64?

    struct StoredReading {
        let file: StoredFile
        let trailers: HTTPFields
        var offset: Int64 = 0
        var isWaiting = false
    }

    /// The runner's next step after content was taken.
    enum Effect {
        case none
        /// The sink keeps content, is full or has a waiting reader. A recorder that is not nil has
        /// to catch up before more content is received.
        case held(isFull: Bool, (any ContentRecorder)?)
        case failed(ClientError)
    }

    /// Begins a response.
    mutating func begin(_ recorder: (any ContentRecorder)?) {
        // This removes the earlier recorder's file from the cache's folder.
        self.recorder?.abandon()
        self.recorder = recorder
        (decoding, hasCoded) = (nil, false)
    }

    /// Ends the delivery, and abandons a recording that is not finished.
    mutating func end() {
        recorder?.abandon()
        (recorder, reading, decoding) = (nil, nil, nil)
    }

    mutating func openDecoder(
        _ response: ClientResponse, to request: ClientRequest, _ transfer: CurlTransfer,
        _ configuration: ClientConfiguration
    ) -> ClientError? {
        // A part of coded content cannot be decoded. Downloads request uncoded content; a download
        // that is coded nevertheless is never resumed with a part.
        guard response.status != .partialContent else { return nil }
        // The fields of a response without content, as to HEAD, describe content that is not sent.
        guard request.method != .head, !response.status.forbidsContent, transfer.contentLength != 0
        else { return nil }
        // The application handles unknown codings.
        guard let codings = Decoding.codings(of: response), !codings.isEmpty else { return nil }
        guard codings.count <= Decoding.codingLimit else {
            return ClientError(.decodingFailed, "more than \(Decoding.codingLimit) content codings")
        }
        let limits = ContentDecodingLimits(
            outputBytes: request.contentLimit ?? configuration.contentLimit ?? .max,
            ratio: max(1, configuration.decodingRatio),
            ratioFloor: max(0, configuration.decodingFloor))
        do throws(CodecError) {
            decoding = try Decoding(codings, limits, Self.pool)
            return nil
        } catch {
            return ClientError(.internalFailure, "\(error)")
        }
    }

    /// Takes content from the connection.
    mutating func take(
        _ bytes: UnsafeRawBufferPointer, to sink: ContentSink, limit: Int64?
    ) -> Effect {
        guard let decoding else { return unsafe give(bytes, to: sink, limit: limit) }
        if bytes.count > 0 { hasCoded = true }
        do throws(CodecError) {
            let span = unsafe Span<UInt8>(_unsafeElements: bytes.bindMemory(to: UInt8.self))
            return give(try decoding.decode(span), to: sink, limit: limit)
        } catch {
            return .failed(ClientError(decoding: error))
        }
    }

    /// Passes on the remaining output of the decoder.
    mutating func finishDecoding(to sink: ContentSink, limit: Int64?) -> Effect {
        // Empty content is accepted although no coding allows it: servers send it, and browsers
        // accept it.
        guard let decoding, hasCoded else { return .none }
        do throws(CodecError) {
            return give(try decoding.finish(), to: sink, limit: limit)
        } catch {
            return .failed(ClientError(decoding: error))
        }
    }

    mutating func finishRecording(_ trailers: HTTPFields) {
        recorder?.finish(trailers: trailers)
        recorder = nil
    }

    private mutating func give(_ content: [UInt8], to sink: ContentSink, limit: Int64?) -> Effect {
        guard !content.isEmpty else { return .none }
        return unsafe content.withUnsafeBytes { unsafe give($0, to: sink, limit: limit) }
    }

    private mutating func give(
        _ bytes: UnsafeRawBufferPointer, to sink: ContentSink, limit: Int64?
    ) -> Effect {
        delivered += Int64(bytes.count)
        if let limit, delivered > limit {
            return .failed(ClientError(.contentTooLong, "more than \(limit) bytes"))
        }
        var behind: (any ContentRecorder)?
        if let recorder {
            unsafe recorder.record(bytes)
            if recorder.isBehind { behind = recorder }
        }
        switch unsafe sink.take(bytes) {
        case .taken: return sink.isAwaited || behind != nil ? .held(isFull: false, behind) : .none
        case .kept: return .held(isFull: false, behind)
        case .full: return .held(isFull: true, behind)
        case .failed(let error): return .failed(error)
        }
    }
}

extension ClientError {
    /// Translates the error of a decoder.
    init(decoding error: CodecError) {
        switch error.kind {
        case .truncated: self.init(.truncated, "the content coding is cut off")
        case .outputTooLong: self.init(.contentTooLong, "\(error)")
        default: self.init(.decodingFailed, "\(error)")
        }
    }
}
