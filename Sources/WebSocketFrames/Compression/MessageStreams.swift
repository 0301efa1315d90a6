/// The compressor and the decompressor of one connection. Most connections have neither at any
/// time, so both are on the heap. A machine owns this object.
final class MessageStreams: @unchecked Sendable {
    var inflater: MessageInflater?
    var deflater: MessageDeflater?

    var isInflating: Bool { inflater != nil }

    /// The streams in `place`, created if there are none.
    static func made(in place: inout MessageStreams?) -> MessageStreams {
        if let place { return place }
        let streams = MessageStreams()
        place = streams
        return streams
    }

    static func endInflating(_ place: inout MessageStreams?) {
        place?.inflater = nil
        dropIfUnused(&place)
    }

    static func endDeflating(_ place: inout MessageStreams?) {
        place?.deflater = nil
        dropIfUnused(&place)
    }

    private static func dropIfUnused(_ place: inout MessageStreams?) {
        if let streams = place, streams.inflater == nil, streams.deflater == nil { place = nil }
    }
}
