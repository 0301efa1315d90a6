internal import ToolkitSystem

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The data to resume a stopped download: the partial file, and the validator that shows whether
/// the server still has the same content (RFC 9110 section 13.1.5).
public struct ResumeData: Sendable, Hashable, Codable {
    /// The URL that the content came from.
    public var url: URL
    /// The path of the partial file.
    public var partialPath: String
    /// How many bytes of the partial file are valid.
    public var offset: Int64
    /// A strong entity tag, or a date that serves as one.
    public var validator: String
    /// The length of the complete file in bytes; nil if unknown.
    public var expectedLength: Int64?

    /// Creates resume data.
    public init(
        url: URL, partialPath: String, offset: Int64, validator: String,
        expectedLength: Int64? = nil
    ) {
        self.url = url
        self.partialPath = partialPath
        self.offset = offset
        self.validator = validator
        self.expectedLength = expectedLength
    }

    /// A copy with the present size of the partial file as its ``offset``. The data that
    /// ``DownloadTask/onResumable`` receives has the offset from before the content arrived.
    /// - Returns: nil if the partial file is missing, empty, or longer than ``expectedLength``.
    public func measured() -> ResumeData? {
        let size = PartialFile.size(partialPath)
        guard size > 0, size <= expectedLength ?? .max else { return nil }
        var data = self
        data.offset = size
        return data
    }

    /// Removes the partial file, unless a download is writing it.
    public func discard() { PartialFile.removeUnlessInUse(partialPath) }
}
