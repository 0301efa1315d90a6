// The codes that other clients use for these errors.
extension ClientError {
    /// The code of `NSURLErrorDomain` for this error; -1 if none fits.
    public var urlErrorCode: Int {
        switch kind {
        case .cancelled: -999
        case .badURL: -1000
        case .timedOut: -1001
        case .unsupportedURL: -1002
        case .cannotFindHost, .cannotFindProxy: -1003
        case .cannotConnect: -1004
        case .connectionLost, .proxyRefused: -1005
        case .tooManyRedirects: -1007
        case .notCached: -1008
        case .redirectRefused: -1010
        case .badResponse, .emptyResponse, .truncated, .unexpectedStatus, .webSocketRefused: -1011
        case .authenticationRequired: -1013
        case .decodingFailed: -1016
        case .unexpectedContent: -1017
        case .headTooLong: -1017
        case .bodyNotReplayable, .bodyFailed: -1021
        case .contentNotAllowed, .contentTooLong: -1103
        case .secureConnectionFailed: -1200
        case .certificateExpired: -1201
        case .certificateUntrusted, .certificateNameMismatch, .pinMismatch: -1202
        case .badClientCertificate: -1205
        case .cannotOpenFile: -3001
        case .cannotWriteFile: -3003
        default: -1
        }
    }

    /// The exit status of the program `curl` for this error.
    public var exitCode: Int32 {
        if curlCode != 0, !isTimeout { return curlCode }
        return switch kind {
        case .badURL: 3
        case .unsupportedURL: 1
        case .cannotFindProxy: 5
        case .cannotFindHost: 6
        case .cannotConnect: 7
        case .timedOut: 28
        case .secureConnectionFailed: 35
        case .certificateUntrusted, .certificateNameMismatch, .certificateExpired: 60
        case .pinMismatch: 90
        case .badClientCertificate: 58
        case .badAuthorities: 77
        case .proxyRefused: 97
        case .connectionLost: 56
        case .badResponse, .headTooLong: 8
        case .emptyResponse: 52
        case .truncated: 18
        case .decodingFailed: 61
        case .unexpectedContent: 8
        case .unexpectedStatus, .webSocketRefused: 22
        case .contentTooLong: 63
        case .tooManyRedirects, .redirectRefused: 47
        case .bodyNotReplayable: 65
        case .bodyFailed, .cannotOpenFile: 26
        case .cannotWriteFile: 23
        case .authenticationRequired: 67
        case .notSupported: 4
        case .badRequest, .contentNotAllowed: 43
        case .cancelled: 42
        default: 2
        }
    }
}

extension ClientError.Kind {
    /// The kind in words.
    var text: String {
        switch self {
        case .timedOut(.queue): "timed out waiting for a connection"
        case .timedOut(.connect): "timed out connecting"
        case .timedOut(.tls): "timed out securing the connection"
        case .timedOut(.firstByte): "timed out waiting for the response"
        case .timedOut(.idle): "timed out: no bytes were sent or received"
        case .timedOut(.total): "timed out: the task took too long"
        case .badURL: "bad URL"
        case .webSocketRefused: "the server refused the WebSocket"
        case .unsupportedURL: "unsupported URL"
        case .sessionInvalidated: "the session takes no more tasks"
        default: words
        }
    }

    /// The name of the case as separate lower-case words.
    private var words: String {
        var text = ""
        for character in "\(self)" {
            if character.isUppercase { text += " " }
            text += character.lowercased()
        }
        return text
    }
}
