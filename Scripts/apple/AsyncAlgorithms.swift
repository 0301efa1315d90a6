// A stand-in for the part of swift-async-algorithms that swift-service-lifecycle uses.
public final class AsyncChannel<Element: Sendable>: AsyncSequence, Sendable {
    public struct Iterator: AsyncIteratorProtocol { public mutating func next() async -> Element? { nil } }
    public init() {}
    public func send(_ element: Element) async {}
    public func finish() {}
    public func makeAsyncIterator() -> Iterator { Iterator() }
}
