package import HTTPParser

/// Mounts that depend on each other: the routes that one mount adds for the paths around it must
/// not hide another mount. It is immutable, so that copies of a router can share it.
package final class RouterLayout: Sendable {
    /// One mount.
    package struct Mount: Sendable {
        /// The segments of its path.
        package let segments: [String]
        /// Whether clients can change nothing below this path.
        package let isReadOnly: Bool
        /// Adds the mount's route to a router, as its newest route.
        package let add: @Sendable (inout Router) -> Void

        package init(
            segments: [String], isReadOnly: Bool, add: @escaping @Sendable (inout Router) -> Void
        ) {
            self.segments = segments
            self.isReadOnly = isReadOnly
            self.add = add
        }

        /// Whether its path is equal to another one or below it.
        package func isWithin(_ other: [String]) -> Bool { segments.starts(with: other) }

        /// Whether a path is equal to the mount's or below it.
        package func covers(_ path: [String]) -> Bool { path.starts(with: segments) }
    }

    package let mounts: [Mount]
    /// The fields of the answer to `OPTIONS *`, apart from Allow.
    package let asteriskFields: HTTPFields

    package init(mounts: [Mount], asteriskFields: HTTPFields) {
        self.mounts = mounts
        self.asteriskFields = asteriskFields
    }
}
