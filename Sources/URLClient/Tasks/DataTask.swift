/// Receives content in memory, or passes it to the delegate piece by piece.
public final class DataTask: TransferTask, @unchecked Sendable {}

/// Sends content, and receives the response like a data task.
public final class UploadTask: TransferTask, @unchecked Sendable {}
