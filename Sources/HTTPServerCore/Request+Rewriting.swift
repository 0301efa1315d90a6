internal import HTTPCodecs
public import HTTPParser

/// A target that stands for the one of the request line. Its bytes stay where they are, as those
/// of the head do.
@safe
final class RewrittenTarget: @unchecked Sendable {
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
    /// Handlers that get the changed copy find routes and files by the new target. The copy starts
    /// at the root: path parameters and the part that mounts have taken are reset.
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

    /// The target as it stood on the wire, whatever `target` is now.
    public var originalTarget: RequestTarget { storage.head.target }

    /// Sets another path, and keeps the query.
    /// - Parameter path: segments after slashes, not percent-encoded. A missing first slash is
    ///   added.
    public mutating func rewritePath(_ path: String) {
        let segments = path.utf8.split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isRooted = path.utf8.first == UInt8(ascii: "/")
        var text = (isRooted ? segments.dropFirst() : segments[...])
            .reduce(into: "") { $0 += "/" + PathEncoding.segment($1) }
        // A path that begins with two slashes would read as a host where it becomes a reference.
        while text.hasPrefix("//") { text.removeFirst() }
        if let query = target.query { text += "?" + query }
        if let target = RequestTarget(text, method: .get) { self.target = target }
    }
}
