/// A message of libcurl, or lines of a head that is sent or received. Heads are shown unchanged,
/// passwords included; content is not shown.
package struct ClientTrace: Sendable {
    package enum Kind: Sendable { case note, received, sent }

    package let kind: Kind
    /// One or several lines, with their line endings.
    package let bytes: [UInt8]

    package init(kind: Kind, bytes: [UInt8]) {
        (self.kind, self.bytes) = (kind, bytes)
    }
}
