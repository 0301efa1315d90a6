import HTTPParser
import URLClient

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Shows the traffic of the connection on standard error, like curl's `-v`: `>` for lines of the
/// request, `<` for lines of the response, `*` for notes.
enum TraceDisplay {
    static func show(_ trace: ClientTrace) {
        var bytes = lines(of: trace)
        try? StandardOutput.write(&bytes, to: STDERR_FILENO)
    }

    /// The lines, with control characters escaped, so that a server cannot control the terminal.
    static func lines(of trace: ClientTrace) -> ByteBuffer {
        let mark =
            switch trace.kind {
            case .note: "* "
            case .sent: "> "
            case .received: "< "
            }
        var lines = trace.bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        // The bytes end with a line end.
        if lines.last?.isEmpty == true { lines.removeLast() }
        var text = ByteBuffer()
        for line in lines {
            let line = line.last == 0x0D ? line.dropLast() : line
            text.append(mark)
            StandardErrorLog.append(String(decoding: line, as: UTF8.self), to: &text)
            text.append("\n")
        }
        return text
    }
}
