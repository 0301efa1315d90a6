package import HTTPParser

/// Mounts that have to know each other, because what one adds for the paths around it must not hide
/// another. It does not change, so that copies of a router can share it.
package final class RouterLayout: Sendable {
    /// One of them.
    package struct Mount: Sendable {
        /// The segments of its path.
        package let segments: [String]
        /// Whether nothing can be changed there.
        package let isReadOnly: Bool
        /// Adds its route, which is then the newest.
        package let add: @Sendable (inout Router) -> Void

        package init(
            segments: [String], isReadOnly: Bool, add: @escaping @Sendable (inout Router) -> Void
        ) {
            self.segments = segments
            self.isReadOnly = isReadOnly
            self.add = add
        }

        /// Whether its path is the other one, or leads to something inside of it.
        package func isWithin(_ other: [String]) -> Bool { segments.starts(with: other) }

        /// Whether it answers for a path.
        package func covers(_ path: [String]) -> Bool { path.starts(with: segments) }
    }

    package let mounts: [Mount]
    /// The fields of the answer to `OPTIONS *`, beside the methods.
    package let asteriskFields: HTTPFields

    package init(mounts: [Mount], asteriskFields: HTTPFields) {
        self.mounts = mounts
        self.asteriskFields = asteriskFields
    }
}
