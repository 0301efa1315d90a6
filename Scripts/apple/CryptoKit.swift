// A stand-in for the part of CryptoKit that the toolkit uses.
@_exported import Darwin
public protocol Digest: Sequence where Element == UInt8 {}
public struct StandInDigest: Digest { public func makeIterator() -> Array<UInt8>.Iterator { [].makeIterator() } }
public protocol HashFunction { associatedtype Digest: CryptoKit.Digest; init(); mutating func update(bufferPointer: UnsafeRawBufferPointer); func finalize() -> Digest }
public enum Insecure {
    public struct MD5: HashFunction { public init() {}; public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}; public func finalize() -> StandInDigest { StandInDigest() } }
    public struct SHA1: HashFunction { public init() {}; public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}; public func finalize() -> StandInDigest { StandInDigest() } }
}
public struct SHA256: HashFunction { public init() {}; public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}; public func finalize() -> StandInDigest { StandInDigest() } }
public struct SHA512: HashFunction { public init() {}; public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}; public func finalize() -> StandInDigest { StandInDigest() } }
