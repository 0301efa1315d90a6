/// A queue that removes its first element in constant time on average; an array would move all
/// other elements.
///
/// It is for the toolkit's own modules, and public for the same reason as `Locked`.
@_documentation(visibility: internal)
public struct FirstInFirstOut<Element> {
    @usableFromInline
    var elements: [Element?] = []
    @usableFromInline
    var first = 0

    /// Creates an empty queue.
    @inlinable
    public init() {}

    /// Whether there is no element.
    @inlinable
    public var isEmpty: Bool { first == elements.count }
    /// The number of elements.
    @inlinable
    public var count: Int { elements.count - first }

    /// Adds an element at the end.
    @inlinable
    public mutating func append(_ element: Element) {
        elements.append(element)
    }

    /// Changes the last element in place; does nothing if the queue is empty.
    /// - Returns: the result of `body`; `nil` if the queue is empty.
    @inlinable
    public mutating func withLast<Result>(_ body: (inout Element) -> Result) -> Result? {
        guard !isEmpty else { return nil }
        let index = elements.count - 1
        // Remove the element first, so that changing it does not copy it.
        guard var element = elements[index].take() else { return nil }
        defer { elements[index] = element }
        return body(&element)
    }

    /// Removes and returns the first element; `nil` if the queue is empty.
    @inlinable
    public mutating func popFirst() -> Element? {
        guard first < elements.count else { return nil }
        let element = elements[first].take()
        first += 1
        if first == elements.count {
            elements.removeAll(keepingCapacity: elements.count <= 16)
            first = 0
        } else if first >= 64, first * 2 >= elements.count {
            // Half of the array is unused: moving the rest costs no more than the removals did.
            elements.removeFirst(first)
            first = 0
        }
        return element
    }
}

extension FirstInFirstOut: Sendable where Element: Sendable {}
