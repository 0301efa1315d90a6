internal import HTTPParser

/// Values that all requests of a session share, created once.
final class RequestDefaults {
    private let configuration: ClientConfiguration
    private let fields: DefaultFields
    /// The limits of requests that set none.
    let limits: TransactionLimits
    /// The fields that were found valid last.
    private var validated = HTTPFields()

    init(_ configuration: ClientConfiguration) {
        self.configuration = configuration
        fields = DefaultFields(configuration)
        limits = TransactionLimits(configuration.timeouts)
    }

    /// The request with the session's fields.
    func fill(_ request: ClientRequest, isDownload: Bool) -> ClientRequest {
        request.filled(isDownload: isDownload, fields)
            ?? request.filled(from: configuration, isDownload: isDownload)
    }

    /// The error of a request whose fields cannot be sent; nil if they are valid.
    func fault(of request: ClientRequest) -> ClientError? {
        guard !request.fields.isKnownSame(as: validated) else { return nil }
        if let error = request.invalidField { return error }
        validated = request.fields
        return nil
    }
}
