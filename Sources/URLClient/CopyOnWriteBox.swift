/// Many values as one reference, for what is handed from hand to hand and seldom changed. A change
/// makes a copy of all of them.
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
