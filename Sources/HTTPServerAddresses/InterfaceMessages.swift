/// The kernel's messages about network interfaces: rtnetlink on Linux, a routing socket on Darwin.
///
/// Only the type of a message is read; the list of interfaces is read afterwards. An unreadable
/// message counts as a change: reading the list once too often costs little.
package enum InterfaceMessages {
    /// Whether one of the messages reports a change of interfaces or addresses.
    package static func tellOfChange(_ bytes: ArraySlice<UInt8>) -> Bool {
        #if os(Linux)
            return netlinkTellsOfChange(bytes)
        #else
            return routingTellsOfChange(bytes)
        #endif
    }

    package static func netlinkTellsOfChange(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let types = netlinkTypes(bytes) else { return true }
        return types.contains { isChange($0) }
    }

    /// The types of the messages in `bytes`; `nil` if these are damaged.
    ///
    /// A message is a length of 32 bits that includes the head of 16 bytes, a type of 16 bits, and
    /// content that is ignored here, in the byte order of the machine. Each message begins at a
    /// multiple of four (rtnetlink(7), netlink(7)).
    package static func netlinkTypes(_ bytes: ArraySlice<UInt8>) -> [UInt16]? {
        var types: [UInt16] = []
        var rest = bytes
        while !rest.isEmpty {
            guard rest.count >= 16 else { return nil }
            let length = number(rest.prefix(4))
            guard length >= 16, length <= rest.count else { return nil }
            types.append(UInt16(number(rest.dropFirst(4).prefix(2))))
            // The padding of the last message may be left out.
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return types
    }

    /// Whether a type reports a new, removed or changed link or address, or dropped messages.
    private static func isChange(_ type: UInt16) -> Bool {
        switch type {
        case 16, 17: true  // RTM_NEWLINK, RTM_DELLINK
        case 20, 21: true  // RTM_NEWADDR, RTM_DELADDR
        case 4: true  // NLMSG_OVERRUN
        default: false
        }
    }

    /// One message is read at a time; its fourth byte is the type (route(4)).
    package static func routingTellsOfChange(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count >= 4 else { return true }
        switch bytes[bytes.startIndex + 3] {
        case 0xC, 0xD, 0xE: return true  // RTM_NEWADDR, RTM_DELADDR, RTM_IFINFO
        default: return false
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
        #if _endian(little)
            return bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
        #else
            return bytes.reduce(0) { $0 << 8 | Int($1) }
        #endif
    }
}
