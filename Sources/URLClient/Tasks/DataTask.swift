/// Fetches content into memory, or to the delegate piece by piece.
public final class DataTask: TransferTask, @unchecked Sendable {}

/// Sends content, and fetches the answer as a data task does.
public final class UploadTask: TransferTask, @unchecked Sendable {}
