/// Stores many values as one reference. Use it if they are often copied and seldom changed: each
/// change copies all values.
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
