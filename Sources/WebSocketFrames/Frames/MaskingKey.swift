/// The mask of a client's frame: 4 bytes that are combined with the payload by exclusive or, so
/// that a script in a browser cannot choose the bytes on the wire.
///
/// RFC 6455, sections 5.3 and 10.3.
public struct MaskingKey: Hashable, Sendable {
    /// The bytes, the first of them lowest.
    let word: UInt32

    /// Creates a key from 4 bytes, the first of them lowest.
    /// - Parameter word: unpredictable bytes, different for each frame.
    public init(_ word: UInt32) {
        self.word = word
    }

    /// A key from the system's random number generator.
    public static func random() -> MaskingKey {
        MaskingKey(.random(in: .min ... .max))
    }

    /// Masks bytes, or unmasks masked bytes.
    public func apply(to bytes: inout MutableSpan<UInt8>) {
        unsafe bytes.withUnsafeMutableBytes { unsafe apply(to: $0) }
    }

    /// The key for the bytes after the first `count` bytes.
    func advanced(by count: Int) -> MaskingKey {
        let shift = UInt32(truncatingIfNeeded: count & 3) * 8
        return shift == 0 ? self : MaskingKey(word >> shift | word << (32 - shift))
    }

    /// Works on 64 bytes at a time, then 8, then single ones: this is the only work on each byte of
    /// a client's binary message.
    func apply(to bytes: UnsafeMutableRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        let wide = SIMD16<UInt32>(repeating: word.littleEndian)
        let double = (UInt64(word) << 32 | UInt64(word)).littleEndian
        let count = bytes.count
        var index = 0
        while count &- index >= 64 {
            let block = unsafe base.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt32>.self)
            unsafe (base + index).storeBytes(of: block ^ wide, as: SIMD16<UInt32>.self)
            index &+= 64
        }
        while count &- index >= 8 {
            let block = unsafe base.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            unsafe (base + index).storeBytes(of: block ^ double, as: UInt64.self)
            index &+= 8
        }
        while index < count {
            let byte = UInt8(truncatingIfNeeded: word >> UInt32(truncatingIfNeeded: index & 3 &* 8))
            unsafe base.storeBytes(
                of: base.load(fromByteOffset: index, as: UInt8.self) ^ byte, toByteOffset: index,
                as: UInt8.self)
            index &+= 1
        }
    }
}
