/// Input after a message. It is held until a handler on the loop has run, so that the handler can
/// answer the message before a later fault ends the connection; and while too many messages or too
/// much output wait.
struct HeldInput {
    var bytes: [UInt8] = []
    var position = 0
    /// Whether a read of this input is scheduled.
    var isScheduled = false
    /// Whether this input, or new input, is being read.
    var isBeingRead = false
    /// Whether the connection became ready for further input during the read.
    var hasRoomAfter = false
    var isEmpty: Bool { bytes.isEmpty && !isBeingRead }
}
