import HTTPServerAddresses
import HTTPServerCore
import Testing

@Suite("Kernel messages about interfaces")
struct InterfaceMessageTests {
    /// A message in the format of netlink(7), without trailing padding.
    private func message(_ type: UInt16, payload: Int = 0, length: UInt32? = nil) -> [UInt8] {
        var bytes: [UInt8] = []
        unsafe withUnsafeBytes(of: length ?? UInt32(16 + payload)) { unsafe bytes += $0 }
        unsafe withUnsafeBytes(of: type) { unsafe bytes += $0 }
        return bytes + Array(repeating: 0xEE, count: 10 + payload)
    }

    @Test(
        "Messages about links and addresses, and lost messages, are changes",
        arguments: [16, 17, 20, 21, 4])
    func changes(_ type: UInt16) {
        #expect(InterfaceMessages.netlinkTellsOfChange(message(type)[...]))
        #expect(InterfaceMessages.netlinkTellsOfChange(message(type, payload: 60)[...]))
    }

    @Test("Other messages are not changes", arguments: [0, 1, 2, 3, 24, 28, 18, 65535])
    func others(_ type: UInt16) {
        #expect(!InterfaceMessages.netlinkTellsOfChange(message(type, payload: 8)[...]))
    }

    @Test("Several messages in one read are found at multiples of four")
    func several() {
        let padded = message(24, payload: 5) + [0, 0, 0]
        let bytes = padded + message(3, payload: 4) + message(20, payload: 3)
        #expect(InterfaceMessages.netlinkTypes(bytes[...]) == [24, 3, 20])
        #expect(InterfaceMessages.netlinkTellsOfChange(bytes[...]))
        #expect(!InterfaceMessages.netlinkTellsOfChange(padded[...]))
        // A slice need not begin at 0.
        #expect(InterfaceMessages.netlinkTypes((padded + bytes)[padded.count...]) == [24, 3, 20])
    }

    @Test("An empty read is not a change")
    func nothing() {
        #expect(!InterfaceMessages.netlinkTellsOfChange([]))
    }

    @Test(
        "A message with an invalid length does not trap, and counts as a change",
        arguments: [0, 1, 15, 17, 4096])
    func damaged(_ length: UInt32) {
        #expect(InterfaceMessages.netlinkTypes(message(24, length: length)[...]) == nil)
        #expect(InterfaceMessages.netlinkTellsOfChange(message(24, length: length)[...]))
    }

    @Test("A truncated message is invalid")
    func cut() {
        let bytes = message(24, payload: 8)
        for count in 1..<bytes.count {
            #expect(InterfaceMessages.netlinkTypes(bytes[..<count]) == nil)
        }
        #expect(InterfaceMessages.netlinkTypes(message(24, length: .max)[...]) == nil)
    }

    @Test("The fourth byte of a routing message shows whether it is a change")
    func routing() {
        for type in UInt8(0)...255 {
            let isChange = (0xC...0xE).contains(type)
            #expect(InterfaceMessages.routingTellsOfChange([20, 0, 5, type, 0, 0]) == isChange)
        }
        #expect(InterfaceMessages.routingTellsOfChange([1, 2]))
    }
}
