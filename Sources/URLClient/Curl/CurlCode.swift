internal import CCurlShims

// The meaning of libcurl's result codes.
extension ClientError.Kind {
    /// The kind of error for a transfer's result.
    /// - Parameters:
    ///   - code: the result.
    ///   - verification: OpenSSL's error for the certificate; 0 without an error.
    ///   - message: libcurl's message for the result.
    ///   - isLost: whether the operating system's error shows that the connection broke.
    ///   - wasConnected: whether the peer was reached.
    ///   - isInHead: whether the response's head was still incomplete.
    init(
        curl code: CURLcode, verification: Int, message: String, isLost: Bool, wasConnected: Bool,
        isInHead: Bool = false
    ) {
        switch code {
        // libcurl reports a full buffer as lack of memory. The code 100 is CURLE_TOO_LARGE in later
        // versions.
        case CURLE_OUT_OF_MEMORY where isInHead, CURLcode(100) where isInHead: self = .headTooLong
        case CURLE_RECV_ERROR where message.hasPrefix("Out of memory in chunked"):
            self = .headTooLong
        // An error in a chunk or a field line, or an unknown transfer coding. The toolkit itself
        // decodes content codings, so they cannot be the cause.
        case CURLE_BAD_FUNCTION_ARGUMENT where wasConnected,
            CURLE_BAD_CONTENT_ENCODING where wasConnected:
            self = .badResponse
        // Before a connection, the URL has another scheme. Later, the peer's answer is not
        // HTTP/1.x: it has no status line, as in HTTP/0.9, or has another version.
        case CURLE_UNSUPPORTED_PROTOCOL:
            self = wasConnected || message.contains("HTTP/0.9") ? .badResponse : .unsupportedURL
        case CURLE_URL_MALFORMAT: self = .badURL
        case CURLE_NOT_BUILT_IN, CURLE_UNKNOWN_OPTION: self = .notSupported
        case CURLE_COULDNT_RESOLVE_PROXY: self = .cannotFindProxy
        case CURLE_COULDNT_RESOLVE_HOST: self = .cannotFindHost
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED: self = .cannotConnect
        case CURLE_PROXY: self = .proxyRefused
        case CURLE_WEIRD_SERVER_REPLY: self = .badResponse
        case CURLE_HTTP2, CURLE_HTTP2_STREAM: self = isLost ? .connectionLost : .badResponse
        case CURLE_PARTIAL_FILE: self = .truncated
        case CURLE_GOT_NOTHING: self = .emptyResponse
        case CURLE_OPERATION_TIMEDOUT: self = .timedOut(.connect)
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_NOTFOUND,
            CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_SHUTDOWN_FAILED, CURLE_USE_SSL_FAILED:
            self = .secureConnectionFailed
        case CURLE_PEER_FAILED_VERIFICATION:
            self = Self.certificate(verification, message)
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH: self = .pinMismatch
        case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT: self = .badClientCertificate
        case CURLE_SSL_CACERT_BADFILE: self = .badAuthorities
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR: self = Self.broken(message)
        case CURLE_SEND_FAIL_REWIND: self = .bodyNotReplayable
        case CURLE_READ_ERROR, CURLE_ABORTED_BY_CALLBACK: self = .bodyFailed
        default: self = .internalFailure
        }
    }

    /// The kind of a certificate error: an invalid chain, or a name that does not match.
    private static func certificate(_ verification: Int, _ message: String) -> Self {
        switch verification {
        // OpenSSL accepted the chain (0). libcurl compares names before it reads OpenSSL's result,
        // and reports 1 until then.
        case 0, 1:
            message.contains("no alternative") || message.contains("does not match")
                ? .certificateNameMismatch : .certificateUntrusted
        // X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED
        case 9, 10: .certificateExpired
        // X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH
        case 62, 64: .certificateNameMismatch
        default: .certificateUntrusted
        }
    }

    /// The kind of a failed transfer: the connection broke, or the response is not valid HTTP.
    private static func broken(_ message: String) -> Self {
        let isMalformed =
            message.contains("chunk") || message.contains("Invalid") || message.contains("HTTP/0.9")
        return isMalformed ? .badResponse : .connectionLost
    }
}

/// The result of a transfer in libcurl.
struct TransferResult {
    typealias Code = CURLcode

    let code: CURLcode
    /// libcurl's message; empty if there is none.
    let message: String

    /// The code as a number; the program `curl` uses the same number as its exit status.
    var number: Int32 { Int32(bitPattern: code.rawValue) }
    var isSuccess: Bool { code == CURLE_OK }

    /// The text for the result: the toolkit's own text for some kinds, otherwise libcurl's message,
    /// or else libcurl's general text for the code.
    /// - Parameter kind: the kind of error for the result.
    func text(for kind: ClientError.Kind) -> String {
        switch (kind, code) {
        case (.headTooLong, _): return "the response head is too long"
        case (.badResponse, CURLE_BAD_CONTENT_ENCODING):
            return "unknown transfer coding"
        case (.badResponse, CURLE_BAD_FUNCTION_ARGUMENT) where !message.contains("chunk"):
            return "malformed field line"
        default: break
        }
        guard message.isEmpty else { return message }
        return unsafe String(cString: curl_easy_strerror(code))
    }
}
