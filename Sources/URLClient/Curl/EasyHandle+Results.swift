internal import CCurlShims
internal import ToolkitSystem

// Information about a transfer, during it and after its end.
extension EasyHandle {
    /// The operating system's error that ended the transfer (`errno`); nil if there was none.
    var operatingSystemError: SystemError? {
        let number = CInt(truncatingIfNeeded: number(CURLINFO_OS_ERRNO))
        return number == 0 ? nil : SystemError("connect", code: number)
    }

    /// OpenSSL's result of verifying the certificate; 0 for success.
    var verificationResult: Int { number(CURLINFO_SSL_VERIFYRESULT) }

    /// How many bytes of heads were sent.
    var requestHeadBytes: Int { number(CURLINFO_REQUEST_SIZE) }

    /// How many connections were made; 0 while the transfer uses an existing one.
    var connectionCount: Int { number(CURLINFO_NUM_CONNECTS) }

    /// The times in microseconds since the start; 0 for events that have not happened, or were not
    /// needed.
    var lookupTime: Int64 { size(CURLINFO_NAMELOOKUP_TIME_T) }
    var connectTime: Int64 { size(CURLINFO_CONNECT_TIME_T) }
    var securedTime: Int64 { size(CURLINFO_APPCONNECT_TIME_T) }
    var requestTime: Int64 { size(CURLINFO_PRETRANSFER_TIME_T) }

    /// Adds libcurl's times and counts.
    func fill(_ transaction: inout ClientMetrics.Transaction) {
        // A transfer that failed before it had a connection has made none either.
        transaction.isConnectionReused = connectionCount == 0 && requestTime > 0
        if !transaction.isConnectionReused {
            transaction.nameLookupEnd = Self.time(lookupTime)
            transaction.connectEnd = Self.time(connectTime)
            transaction.secureConnectionEnd = Self.time(securedTime)
        }
        transaction.requestStart = Self.time(requestTime)
        transaction.remoteAddress = text(CURLINFO_PRIMARY_IP)
        transaction.remotePort = number(CURLINFO_PRIMARY_PORT)
        transaction.localAddress = text(CURLINFO_LOCAL_IP)
        transaction.localPort = number(CURLINFO_LOCAL_PORT)
        transaction.requestHeadBytes = requestHeadBytes
        transaction.responseHeadBytes = number(CURLINFO_HEADER_SIZE)
        transaction.responseContentBytes = size(CURLINFO_SIZE_DOWNLOAD_T)
    }

    private static func time(_ microseconds: Int64) -> Duration? {
        microseconds > 0 ? .microseconds(microseconds) : nil
    }
}
