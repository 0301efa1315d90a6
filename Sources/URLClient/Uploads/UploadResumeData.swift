#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The data to resume the upload of a file where it stopped, also in another process.
public struct UploadResumeData: Sendable, Hashable, Codable {
    /// The URL that the upload is for.
    public var url: URL
    /// The URL of the unfinished upload on the server.
    public var upload: URL
    /// The file.
    public var path: String
    /// The length of the file in bytes. If it has changed, the upload starts again.
    public var length: Int64

    /// Creates resume data.
    public init(url: URL, upload: URL, path: String, length: Int64) {
        (self.url, self.upload, self.path, self.length) = (url, upload, path, length)
    }
}
