public import Synchronization

/// A reference that is set once, by the first of the threads that need it.
///
/// It is an `AtomicLazyReference` whose `load` is one machine load. The compiler (6.3) does not
/// specialise the `load` of the standard library, so each call would look up the instance's type.
/// Like ``Locked``, it is for the toolkit's own modules, and public only to be specialised in them.
@_documentation(visibility: internal)
@safe
public struct LazyReference<Instance: AnyObject & Sendable>: ~Copyable, @unchecked Sendable {
    /// The address of the instance, which is retained once; 0 before it is set.
    @usableFromInline
    let address = Atomic<UInt>(0)

    /// Creates a reference that is not set.
    @inlinable
    public init() {}

    @inlinable
    deinit {
        unsafe Self.unmanaged(address.load(ordering: .acquiring))?.release()
    }

    /// The instance; `nil` before it is set.
    @inlinable
    public func load() -> Instance? {
        unsafe Self.unmanaged(address.load(ordering: .acquiring))?.takeUnretainedValue()
    }

    /// Sets the instance, unless another thread has set one.
    /// - Returns: the instance that is set.
    @inlinable
    public func storeIfNil(_ instance: consuming Instance) -> Instance {
        let own = unsafe Unmanaged.passRetained(instance)
        let (isStored, other) = unsafe address.compareExchange(
            expected: 0, desired: UInt(bitPattern: own.toOpaque()),
            ordering: .acquiringAndReleasing)
        if isStored { return unsafe own.takeUnretainedValue() }
        unsafe own.release()
        return unsafe Self.unmanaged(other).unsafelyUnwrapped.takeUnretainedValue()
    }

    @inlinable
    static func unmanaged(_ address: UInt) -> Unmanaged<Instance>? {
        unsafe UnsafeRawPointer(bitPattern: address).map { unsafe Unmanaged.fromOpaque($0) }
    }
}
