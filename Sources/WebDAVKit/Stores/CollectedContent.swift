internal import HTTPCodecs
internal import ToolkitSystem

/// Content of a request that the default of ``ResourceStore/stage(_:for:expected:)`` has collected
/// in memory.
public final class CollectedContent: StagedContent {
    /// The whole content.
    public let bytes: [UInt8]
    private let description = Locked(ContentDescription())

    /// Creates content.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The number of bytes.
    public var length: Int64 { Int64(bytes.count) }

    /// The media type, the language and the checksums that the client sent with the content.
    public var contentDescription: ContentDescription {
        get { description.withLock { $0 } }
        set { description.withLock { $0 = newValue } }
    }
}
