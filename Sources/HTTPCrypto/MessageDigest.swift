#if canImport(CommonCrypto)
    internal import CryptoKit
#else
    internal import CLibCrypto
#endif

/// The hash of content that comes in pieces; one caller at a time uses it.
@safe
package final class MessageDigest: @unchecked Sendable {
    /// Hash functions, by the names that fields use (RFC 9530 section 7.2), in lower case.
    package enum Function: String, Sendable {
        case md5
        case sha1
        case sha256 = "sha-256"
        case sha512 = "sha-512"

        /// How many bytes a hash has.
        package var byteCount: Int {
            switch self {
            case .md5: 16
            case .sha1: 20
            case .sha256: 32
            case .sha512: 64
            }
        }
    }

    #if canImport(CommonCrypto)
        private var hasher: any HashFunction

        /// - Returns: `nil` where the system forbids the function.
        package init?(_ function: Function) {
            hasher =
                switch function {
                case .md5: Insecure.MD5()
                case .sha1: Insecure.SHA1()
                case .sha256: SHA256()
                case .sha512: SHA512()
                }
        }

        /// Adds a piece.
        package func update(_ bytes: [UInt8]) {
            unsafe bytes.withUnsafeBytes { unsafe hasher.update(bufferPointer: $0) }
        }

        /// The hash of all pieces.
        package func finish() -> [UInt8] { Array(hasher.finalize()) }
    #else
        private let context: OpaquePointer
        private let byteCount: Int

        /// - Returns: `nil` where the system forbids the function.
        package init?(_ function: Function) {
            Crypto.keepAtExit()
            guard let context = unsafe EVP_MD_CTX_new() else { return nil }
            let kind =
                switch function {
                case .md5: unsafe EVP_md5()
                case .sha1: unsafe EVP_sha1()
                case .sha256: unsafe EVP_sha256()
                case .sha512: unsafe EVP_sha512()
                }
            guard unsafe EVP_DigestInit_ex(context, kind, nil) == 1 else {
                unsafe EVP_MD_CTX_free(context)
                return nil
            }
            unsafe self.context = context
            byteCount = function.byteCount
        }

        deinit { unsafe EVP_MD_CTX_free(context) }

        /// Adds a piece.
        package func update(_ bytes: [UInt8]) {
            let status = unsafe EVP_DigestUpdate(context, bytes, bytes.count)
            precondition(status == 1, "the system's cryptography does not work")
        }

        /// The hash of all pieces; nothing can be added afterwards.
        package func finish() -> [UInt8] {
            var hash = [UInt8](repeating: 0, count: byteCount)
            let status = unsafe EVP_DigestFinal_ex(context, &hash, nil)
            precondition(status == 1, "the system's cryptography does not work")
            return hash
        }
    #endif
}
