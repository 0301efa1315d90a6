#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// With which a download goes on where it stopped: the part that is there, and the validator that
/// says whether the rest still belongs to it (RFC 9110 section 13.1.5).
public struct ResumeData: Sendable, Hashable, Codable {
    /// The URL that was asked.
    public var url: URL
    /// The file with the part that is there.
    public var partialPath: String
    /// How many bytes of it are good.
    public var offset: Int64
    /// A strong entity tag, or a date that serves as one.
    public var validator: String
    /// How long the whole is, if that was known.
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

    /// The same for as many bytes as the file of the part has by now: those that
    /// ``DownloadTask/onResumable`` has given are from before the content came.
    /// - Returns: nil where the file is gone, empty, or longer than the whole.
    public func measured() -> ResumeData? {
        guard case .success(let part) = System.openForReading(partialPath), part.size > 0,
            part.size <= expectedLength ?? .max
        else { return nil }
        var data = self
        data.offset = part.size
        return data
    }

    /// Gives the download up: removes the part that is there, unless a download is writing it.
    public func discard() { System.removeUnlessInUse(partialPath) }
}
