// A stand-in for the part of CryptoKit that the toolkit uses.
@_exported import Darwin
public enum Insecure {
    public struct MD5Digest: Sequence { public func makeIterator() -> Array<UInt8>.Iterator { [].makeIterator() } }
    public struct MD5 { public init() {}; public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}; public func finalize() -> MD5Digest { MD5Digest() } }
}
