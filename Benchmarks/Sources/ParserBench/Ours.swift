import HTTPParser

/// Bytes that stay where they are, as the drivers in C have them: counting references to arrays
/// would be measured with the parser.
@safe
private struct LentRequests: ~Copyable {
    private let requests: UnsafeMutableBufferPointer<UnsafeBufferPointer<UInt8>>

    init(_ requests: [[UInt8]]) {
        unsafe self.requests = .allocate(capacity: requests.count)
        for (index, request) in requests.enumerated() {
            let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: request.count)
            _ = unsafe bytes.initialize(from: request)
            unsafe self.requests.initializeElement(at: index, to: UnsafeBufferPointer(bytes))
        }
    }

    deinit {
        for index in unsafe requests.indices { unsafe requests[index].deallocate() }
        unsafe requests.deallocate()
    }

    /// The bytes of a request; they live as long as this does.
    subscript(index: Int) -> UnsafeBufferPointer<UInt8> { unsafe requests[index] }
}

/// Our head parser alone: offsets into the bytes it was lent, framing decided.
struct BorrowedHead: Contender, ~Copyable {
    private let requests: LentRequests
    private var parser = HeadParser(.request)

    init(_ requests: [[UInt8]]) {
        self.requests = LentRequests(requests)
    }

    mutating func parse(_ index: Int) -> Bool {
        parser.reset()
        let request = unsafe Span(_unsafeElements: requests[index])
        guard let length = try? parser.parse(request) else { return false }
        return length > 0
    }
}

/// The same, followed by the owned value that a handler gets.
struct OwnedHead: Contender, ~Copyable {
    private let requests: LentRequests
    private var parser = HeadParser(.request)

    init(_ requests: [[UInt8]]) {
        self.requests = LentRequests(requests)
    }

    mutating func parse(_ index: Int) -> Bool {
        parser.reset()
        let request = unsafe Span(_unsafeElements: requests[index])
        guard let length = try? parser.parse(request) else { return false }
        return accept(RequestHead(parser, copying: request, length: length))
    }
}

/// The incremental parser over whole messages: bytes in, events out.
struct Incremental: Contender, ~Copyable {
    private let requests: [[UInt8]]
    private var parser = RequestParser()

    init(_ requests: [[UInt8]]) {
        self.requests = requests
    }

    mutating func parse(_ index: Int) -> Bool {
        let request = requests[index]
        parser.append(request.span)
        var received = 0
        do {
            while let event = try parser.next() {
                switch consume event {
                case .head(let head): guard accept(head) else { return false }
                case .content(let bytes): received += bytes.count
                case .end: return received <= request.count
                }
            }
        } catch {
            return false
        }
        return false
    }
}

/// Takes a head out of the optimizer's sight, so that it has to be made.
@inline(never)
@_optimize(none)
private func accept(_ head: consuming RequestHead) -> Bool {
    true
}
