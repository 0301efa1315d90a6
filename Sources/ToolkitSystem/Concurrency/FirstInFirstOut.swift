/// A queue whose first element is taken in constant time, however long it is: taking it off an array
/// moves all the others.
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

    /// Adds an element behind all others.
    @inlinable
    public mutating func append(_ element: Element) {
        elements.append(element)
    }

    /// Changes the last element where it stands; without one nothing happens.
    /// - Returns: what `body` returns, or `nil`.
    @inlinable
    public mutating func withLast<Result>(_ body: (inout Element) -> Result) -> Result? {
        guard !isEmpty else { return nil }
        let index = elements.count - 1
        // Taken out first, so that it is not copied.
        guard var element = elements[index].take() else { return nil }
        defer { elements[index] = element }
        return body(&element)
    }

    /// The first element, which is taken out; `nil` without one.
    @inlinable
    public mutating func popFirst() -> Element? {
        guard first < elements.count else { return nil }
        let element = elements[first].take()
        first += 1
        if first == elements.count {
            elements.removeAll(keepingCapacity: elements.count <= 16)
            first = 0
        } else if first >= 64, first * 2 >= elements.count {
            // Half of the room is empty: moving the rest costs as much as was taken since.
            elements.removeFirst(first)
            first = 0
        }
        return element
    }
}

extension FirstInFirstOut: Sendable where Element: Sendable {}
