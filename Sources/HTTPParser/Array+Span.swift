extension Array where Element == UInt8 {
    /// Appends a copy of the bytes, such as the content that a parser lends.
    ///
    /// <!-- snippet: given event: consuming RequestEvent, content: inout [UInt8] -->
    /// ```swift
    /// if case .content(let bytes) = event { content.append(copying: bytes) }
    /// ```
    @inlinable
    public mutating func append(copying bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    /// Appends a number in decimal digits.
    package mutating func append(decimal number: Int64) {
        if number < 0 { append(UInt8(ascii: "-")) }
        var rest = number.magnitude
        guard rest > 9 else { return append(0x30 + UInt8(truncatingIfNeeded: rest)) }
        // The digits are produced from last to first; 20 bytes are enough for any number.
        unsafe withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { digits in
            var first = digits.count
            repeat {
                first -= 1
                unsafe digits[first] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            unsafe append(contentsOf: digits[first...])
        }
    }
}

#if canImport(Darwin)
    extension Array where Element == UInt8 {
        /// The bytes as a span, on the systems that the package supports.
        ///
        /// The standard library has `Array.span` from macOS 26, iOS 26 and tvOS 26 on. This
        /// property replaces it for bytes and never copies: an array of bytes is never a bridged
        /// Objective-C array, so its storage is always contiguous.
        @inlinable
        public var span: Span<UInt8> {
            @_lifetime(borrow self)
            get {
                // A slice has a span on all systems and shares the array's storage.
                let slice = self[...]
                return unsafe _overrideLifetime(slice.span, borrowing: self)
            }
        }
    }
#endif
