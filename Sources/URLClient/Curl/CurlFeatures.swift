internal import CCurlShims
internal import HTTPCrypto

/// The features of libcurl at run time, which its headers do not show.
struct CurlFeatures: Sendable {
    /// The version as one number, such as 0x075801 for 7.88.1.
    let version: UInt32
    let hasHTTP2: Bool
    let hasTLS: Bool
    let hasUnixSockets: Bool
    let hasIDN: Bool
    let hasHTTPSProxy: Bool
    /// The name of the TLS library and its version.
    let tlsName: String

    /// Initialises libcurl, once for the process.
    static let current: CurlFeatures = {
        Crypto.keepAtExit()
        curl_global_init(Int(CURL_GLOBAL_ALL))
        let info = unsafe curl_version_info(CURLVERSION_FIRST)
        guard let info = unsafe info?.pointee else {
            return CurlFeatures(version: 0, features: 0, tlsName: "")
        }
        let tls = unsafe info.ssl_version.map { unsafe String(cString: $0) }
        return unsafe CurlFeatures(
            version: info.version_num, features: info.features, tlsName: tls ?? "")
    }()

    private init(version: UInt32, features: Int32, tlsName: String) {
        self.version = version
        self.tlsName = tlsName
        hasHTTP2 = features & (1 << 16) != 0
        hasTLS = features & (1 << 2) != 0
        hasUnixSockets = features & (1 << 19) != 0
        hasIDN = features & (1 << 10) != 0
        hasHTTPSProxy = features & (1 << 21) != 0
    }

    /// Whether connections of HTTP/2 without TLS serve one request and fail for the next (in 7.88;
    /// fixed in 8.0.0).
    var spoilsPriorKnowledge: Bool { version >> 8 == 0x0758 }

    /// Whether libcurl can abandon a name lookup without waiting for its end (since 7.87.0).
    var abandonsLookups: Bool { version >= 0x07_57_00 }

    /// Whether a repeated upload over HTTP/2 may send wrong bytes (fixed in 8.7.0).
    var mayCorruptRepeatedUploads: Bool { version < 0x08_07_00 }
}
