#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// With which the upload of a file goes on where it stopped, also in another process.
public struct UploadResumeData: Sendable, Hashable, Codable {
    /// The URL that the upload is for.
    public var url: URL
    /// The URL at which the server keeps what has come.
    public var upload: URL
    /// The file.
    public var path: String
    /// How many bytes the file had. The upload of a file of another length starts again.
    public var length: Int64

    /// Creates resume data.
    public init(url: URL, upload: URL, path: String, length: Int64) {
        (self.url, self.upload, self.path, self.length) = (url, upload, path, length)
    }
}
