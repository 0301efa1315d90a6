#if canImport(CommonCrypto)
    internal import CommonCrypto
    internal import CryptoKit
    internal import Darwin
    internal import Security
#else
    internal import CLibCrypto
#endif

/// Hashes, password derivation and random bytes: OpenSSL's libcrypto on Linux, CommonCrypto,
/// CryptoKit and Security on Apple platforms. Swift code outside of this module calls none of them.
///
/// Each of them is a C function that reads one buffer and fills another one of a known length. They
/// fail only when the library is broken or out of memory; there is no sound way to go on then.
package enum Crypto {
    /// Keeps the library from cleaning up when the process exits. Threads may still be ending their
    /// connections then, and crashed when the cleanup freed their state. Hashes and random bytes do
    /// it first; so must others that use the library, as it has no effect later
    /// (OPENSSL_init_crypto(3)).
    package static func keepAtExit() { _ = isKept }

    private static let isKept: Bool = {
        #if canImport(CommonCrypto)
            true
        #else
            OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
        #endif
    }()

    /// MD5 (RFC 1321), the only hash of some Digest clients; `nil` where the system forbids it.
    package static func md5(_ bytes: [UInt8]) -> [UInt8]? {
        #if canImport(CommonCrypto)
            // CommonCrypto's MD5 is deprecated; CryptoKit's is marked insecure by its name.
            var hasher = Insecure.MD5()
            unsafe bytes.withUnsafeBytes { unsafe hasher.update(bufferPointer: $0) }
            return Array(hasher.finalize())
        #else
            return unsafe filled(16) { room in
                unsafe EVP_Digest(bytes, bytes.count, room.baseAddress, nil, EVP_md5(), nil) == 1
            }
        #endif
    }

    /// SHA-256 (FIPS 180-4).
    package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        #if canImport(CommonCrypto)
            let hash = unsafe filled(32) { room in
                unsafe CC_SHA256(bytes, CC_LONG(bytes.count), room.baseAddress) != nil
            }
        #else
            let hash = unsafe filled(32) { room in
                unsafe EVP_Digest(
                    bytes, bytes.count, room.baseAddress, nil, EVP_sha256(), nil) == 1
            }
        #endif
        return sure(hash)
    }

    /// HMAC with SHA-256 (RFC 2104).
    package static func hmacSHA256(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        #if canImport(CommonCrypto)
            let code = unsafe filled(32) { room in
                unsafe CCHmac(
                    CCHmacAlgorithm(kCCHmacAlgSHA256), key, key.count, bytes, bytes.count,
                    room.baseAddress)
                return true
            }
        #else
            let code = unsafe filled(32) { room in
                var count: CUnsignedInt = 0
                return unsafe HMAC(
                    EVP_sha256(), key, CInt(key.count), bytes, bytes.count, room.baseAddress,
                    &count) != nil
            }
        #endif
        return sure(code)
    }

    /// PBKDF2 with HMAC and SHA-256 (RFC 8018 section 5.2): 32 bytes. Its time grows with `rounds`,
    /// so do not call it on an event loop.
    package static func pbkdf2SHA256(
        _ password: [UInt8], salt: [UInt8], rounds: Int
    ) -> [UInt8] {
        #if canImport(CommonCrypto)
            let key = unsafe filled(32) { room in
                unsafe password.withUnsafeBytes { password in
                    unsafe CCKeyDerivationPBKDF(
                        CCPBKDFAlgorithm(kCCPBKDF2),
                        password.baseAddress?.assumingMemoryBound(to: CChar.self), password.count,
                        salt, salt.count, CCPseudoRandomAlgorithm(kCCPRFHmacAlgSHA256),
                        UInt32(clamping: rounds), room.baseAddress, room.count)
                        == CInt(kCCSuccess)
                }
            }
        #else
            let key = unsafe filled(32) { room in
                unsafe password.withUnsafeBytes { password in
                    unsafe PKCS5_PBKDF2_HMAC(
                        password.baseAddress?.assumingMemoryBound(to: CChar.self),
                        CInt(clamping: password.count), salt, CInt(clamping: salt.count),
                        CInt(clamping: rounds), EVP_sha256(), CInt(room.count), room.baseAddress)
                        == 1
                }
            }
        #endif
        return sure(key)
    }

    /// Unpredictable bytes.
    package static func random(_ count: Int) -> [UInt8] {
        #if canImport(CommonCrypto)
            let bytes = unsafe filled(count) { room in
                guard let start = room.baseAddress else { return true }
                return unsafe SecRandomCopyBytes(kSecRandomDefault, room.count, start)
                    == errSecSuccess
            }
        #else
            let bytes = unsafe filled(count) { room in
                unsafe RAND_bytes(room.baseAddress, CInt(room.count)) == 1
            }
        #endif
        return sure(bytes)
    }

    /// Whether both are the same, in a time that depends on the length alone.
    package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count, !left.isEmpty else { return left.count == right.count }
        #if canImport(CommonCrypto)
            return unsafe timingsafe_bcmp(left, right, left.count) == 0
        #else
            return unsafe CRYPTO_memcmp(left, right, left.count) == 0
        #endif
    }

    private static func filled(
        _ count: Int, _ fill: (UnsafeMutableBufferPointer<UInt8>) -> Bool
    ) -> [UInt8]? {
        keepAtExit()
        var isFilled = false
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { room, used in
            let room = unsafe UnsafeMutableBufferPointer(rebasing: room[..<count])
            isFilled = unsafe fill(room)
            used = isFilled ? count : 0
        }
        return isFilled ? bytes : nil
    }

    private static func sure(_ bytes: [UInt8]?) -> [UInt8] {
        guard let bytes else { preconditionFailure("the system's cryptography does not work") }
        return bytes
    }
}
