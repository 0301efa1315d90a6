/// Says whether bytes that come one after another are UTF-8, and at which one they are not.
///
/// The states are those of the table of well-formed byte sequences: how many bytes are still to
/// come, and between which bounds the next one lies. RFC 3629, section 4.
struct UTF8Checker: Hashable, Sendable {
    private var missing: UInt8 = 0
    private var lowest: UInt8 = 0x80
    private var highest: UInt8 = 0xBF

    /// Whether no character is unfinished.
    var isComplete: Bool { missing == 0 }

    /// Takes the next byte; false when it cannot stand there.
    @inline(__always)
    mutating func take(_ byte: UInt8) -> Bool {
        if byte < 0x80, missing == 0 { return true }
        return takeInCharacter(byte)
    }

    private mutating func takeInCharacter(_ byte: UInt8) -> Bool {
        guard missing > 0 else { return begin(with: byte) }
        guard lowest...highest ~= byte else { return false }
        (lowest, highest) = (0x80, 0xBF)
        missing -= 1
        return true
    }

    /// The bounds keep out overlong forms, surrogates and what lies beyond U+10FFFF.
    private mutating func begin(with byte: UInt8) -> Bool {
        switch byte {
        case 0xC2...0xDF: missing = 1
        case 0xE0: (missing, lowest) = (2, 0xA0)
        case 0xED: (missing, highest) = (2, 0x9F)
        case 0xE1...0xEF: missing = 2
        case 0xF0: (missing, lowest) = (3, 0x90)
        case 0xF4: (missing, highest) = (3, 0x8F)
        case 0xF1...0xF3: missing = 3
        default: return false
        }
        return true
    }
}
