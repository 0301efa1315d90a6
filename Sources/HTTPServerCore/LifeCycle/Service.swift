/// The handler of a server, and whether it may answer at once. Connections keep it until the
/// server tells them of another, so that asking for it costs no request anything.
final class Service: Sendable {
    let handler: any Handler
    let immediate: (any ImmediateHandler)?

    init(_ handler: any Handler) {
        self.handler = handler
        immediate = handler as? any ImmediateHandler
    }
}
