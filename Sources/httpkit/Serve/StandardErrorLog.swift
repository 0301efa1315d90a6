import HTTPParser
import HTTPServerCore
internal import HTTPServerKit
import Logging
internal import ToolkitSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The log of the program: lines on standard error, written on a separate queue. If the reader
/// stops reading, lines are dropped and counted; no event loop waits.
struct StandardErrorLog: LogHandler {
    /// The writer for the log and the access log.
    static let lines = LineWriter(descriptor: STDERR_FILENO) { dropped in
        "httpkit: \(dropped) lines of the log were dropped: standard error was not read in time"
    }

    /// Writes the queued lines within half a second, so that a reader that has stopped does not
    /// keep the program from ending.
    static func finish() { lines.flush(within: .milliseconds(500)) }

    let label: String
    var logLevel: Logger.Level
    var metadata = Logger.Metadata()
    var metadataProvider: Logger.MetadataProvider?

    init(label: String, level: Logger.Level) {
        self.label = label
        logLevel = level
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let own = event.metadata { all.merge(own) { $1 } }
        let words = all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let text = words.joined(separator: " ") + (words.isEmpty ? "" : " ")
        let message = "\(text)[\(event.source)] \(event.message)"
        let start = "\(event.level) \(label): "
        Self.lines.write((start, message)) { text, line, _ in
            let time = CivilTime(secondsSinceEpoch: Syscalls.realtime().seconds)
            line.append("\(time.rfc3339) \(text.0)")
            Self.append(text.1, to: &line)
        }
    }

    /// Text from a client must not begin a new line or send commands to the terminal; terminals
    /// take U+0080 to U+009F for commands, too.
    static func append(_ text: String, to line: inout ByteBuffer) {
        for scalar in text.unicodeScalars {
            if scalar.value < 0x20 || 0x7F...0x9F ~= scalar.value {
                let digits = String(scalar.value, radix: 16)
                line.append(digits.utf8.count == 1 ? "\\x0" : "\\x")
                line.append(digits)
            } else {
                for byte in scalar.utf8 { line.append(byte) }
            }
        }
    }
}
