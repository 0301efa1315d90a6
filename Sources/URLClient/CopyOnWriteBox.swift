/// Many values as one reference; use it for values that are passed on often and seldom changed. A
/// change makes a copy of all of them.
struct CopyOnWriteBox<Values: Sendable>: Sendable {
    private final class Box: Sendable {
        let values: Values

        init(_ values: Values) {
            self.values = values
        }
    }

    private var box: Box

    init(_ values: Values) {
        box = Box(values)
    }

    var values: Values {
        get { box.values }
        set { box = Box(newValue) }
    }
}
