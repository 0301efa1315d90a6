/// A message of libcurl, or lines of a head that goes over a connection. Heads are shown as they are,
/// passwords included; content is not.
package struct ClientTrace: Sendable {
    package enum Kind: Sendable { case note, received, sent }

    package let kind: Kind
    /// One line or several, with their ends.
    package let bytes: [UInt8]

    package init(kind: Kind, bytes: [UInt8]) {
        (self.kind, self.bytes) = (kind, bytes)
    }
}
