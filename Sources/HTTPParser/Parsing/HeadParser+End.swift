extension HeadParser {
    /// Whether the bytes contain the end of a head: an empty line after a non-empty line.
    package static func hasWholeHead(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        var (hasLine, lineIsEmpty) = (false, true)
        var rest = unsafe bytes
        while let byte = unsafe rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\r"): continue
            case UInt8(ascii: "\n") where lineIsEmpty && hasLine: return true
            case UInt8(ascii: "\n"): lineIsEmpty = true
            default: (hasLine, lineIsEmpty) = (true, false)
            }
        }
        return false
    }
}
