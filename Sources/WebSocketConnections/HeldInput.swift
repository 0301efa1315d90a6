/// Input behind a message. It waits until a handler on the loop has had its turn, so that it can
/// answer the message although a fault follows; and while there is no room for messages.
struct HeldInput {
    var bytes: [UInt8] = []
    var position = 0
    /// Whether it is about to be read.
    var isScheduled = false
    /// Whether it, or new input, is being read.
    var isBeingRead = false
    /// Whether room for further input was reported during the read.
    var hasRoomAfter = false
    var isEmpty: Bool { bytes.isEmpty && !isBeingRead }
}
