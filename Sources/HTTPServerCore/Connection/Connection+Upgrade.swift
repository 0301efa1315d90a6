package import HTTPParser
internal import Logging
internal import ToolkitSystem

extension Connection: UpgradeCarrier {
    /// Answers with 101, and hands the connection over.
    /// - Returns: `false` if an upgrade is not possible; nothing was written then.
    func upgrade(
        _ response: Response, _ start: ResponseBody.Upgrade, _ out: inout ByteBuffer
    ) -> Bool {
        guard response.status == .switchingProtocols, unsafe state.takesUpgrade else {
            return false
        }
        do throws(HTTPMessageError) {
            try unsafe self.response?.serializer.head(
                response.status, verbatim: loop.commonFields, mediaType: "",
                fields: response.fields, framing: .none, isHead: false, connection: .upgrade,
                into: &out)
        } catch {
            logError("the handler returned an invalid upgrade", nil, error)
            return false
        }
        unsafe self.response?.observation?.begins(response, .none)
        if unsafe self.response?.observation != nil { endObserving() }
        unsafe self.response = nil
        exchange?.end()
        exchange = nil
        upgraded = start(self)
        perform(unsafe state.upgrade())
        if unsafe state.isShuttingDown { loop.execute { [self] in upgraded?.serverStops() } }
        return true
    }

    /// Gives the other protocol the bytes that came with the request, or while it wanted no input.
    func giveTailToUpgraded() {
        guard let upgraded, unsafe !tail.isEmpty, upgraded.wantsInput else { return }
        var bytes = unsafe Array(tail.unsafeBytes)
        unsafe tail = ByteBuffer()
        unsafe bytes.withUnsafeMutableBytes { unsafe upgraded.receive($0) }
        flush()
    }

    package func write(_ body: (inout ByteBuffer) -> Void) {
        guard unsafe !state.isClosed else { return }
        unsafe body(&loop.sendBuffer)
    }

    package func readOn() { loop.execute { [self] in resume() } }

    package func deadlineChanged() { perform(unsafe state.upgradeDeadlineChanged()) }

    package func finish(leavesInput: Bool) {
        upgraded = nil
        perform(unsafe state.endedUpgrade(leavesInput: leavesInput))
    }
}
