internal import HTTPParser
internal import ToolkitSystem

/// Files that were compressed beforehand: `app.js.gz` beside `app.js`.
enum PrecompressedFile {
    /// The compressed file beside the original. `nil` if it is older than the original, because it
    /// may then hold other content.
    static func find(
        beside path: FilePath, _ original: FileStatus, in root: RootDirectory
    ) -> (file: OpenFile, status: FileStatus)? {
        guard let descriptor = try? path.appending(".gz").open(in: root) else { return nil }
        let file = OpenFile(owning: descriptor)
        guard let status = RootDirectory.status(of: descriptor), status.kind == .regular,
            status.size > 0, isFresh(status, original)
        else { return nil }
        return (file, status)
    }

    private static func isFresh(_ status: FileStatus, _ original: FileStatus) -> Bool {
        (status.modifiedSeconds, status.modifiedNanoseconds)
            >= (original.modifiedSeconds, original.modifiedNanoseconds)
    }
}
