public import HTTPParser

/// A target that replaces the one of the request line. Its bytes keep their address while this
/// object exists, like the bytes of the head.
@safe
package final class RewrittenTarget: @unchecked Sendable {
    let target: RequestTarget
    private let room: UnsafeMutableRawBufferPointer

    init(_ target: RequestTarget) {
        self.target = target
        let text = Array(target.text.utf8)
        unsafe room = .allocate(byteCount: text.count, alignment: 1)
        unsafe room.copyBytes(from: text)
    }

    deinit { unsafe room.deallocate() }

    var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(room) }
}

extension Request {
    /// The request target, still percent-encoded: that of the request line, until a handler
    /// replaces it.
    ///
    /// Handlers that get the changed copy find routes and files by the new target. The copy is
    /// routed from the root: path parameters and the prefix that mounts have taken are reset.
    ///
    /// ```swift
    /// if let target = RequestTarget("/new?page=1") { request.target = target }
    /// ```
    public var target: RequestTarget {
        get { rewritten?.target ?? storage.head.target }
        set {
            rewritten = RewrittenTarget(newValue)
            parameters = PathParameters()
            mountDepth = 0
        }
    }

    /// The target as received, even if `target` was replaced.
    public var originalTarget: RequestTarget { storage.head.target }
}
