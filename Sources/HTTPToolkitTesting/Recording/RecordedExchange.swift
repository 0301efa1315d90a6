internal import ToolkitSystem

/// A request and its response as they were on the wire, kept in files:
///
///     001-GET.request     the bytes of the request
///     001-200.response    the bytes of the response, interim ones before it
///     001.timing          how they arrived, a line for each piece: direction, milliseconds since
///                         the connection began, bytes
///
/// The last file may be missing; recordings of other tools have only bytes.
public struct RecordedExchange: Sendable {
    /// A piece as it arrived from the network.
    public struct Piece: Sendable, Equatable {
        /// Whether the piece is from the client.
        public var isRequest: Bool
        /// The time since the connection began.
        public var milliseconds: Int
        /// The number of its bytes that belong to the request or the response.
        public var count: Int

        /// Creates a piece.
        public init(isRequest: Bool, milliseconds: Int, count: Int) {
            self.isRequest = isRequest
            self.milliseconds = milliseconds
            self.count = count
        }
    }

    /// The number in the recording, from 1 on.
    public var number: Int
    /// The method of the request.
    public var method: String
    /// The status of the final response.
    public var status: Int
    /// The bytes of the request.
    public var request: [UInt8]
    /// The bytes of the response, interim ones before it.
    public var response: [UInt8]
    /// The pieces of both; empty if they were not recorded.
    public var pieces: [Piece]

    /// Creates an exchange.
    public init(
        number: Int, method: String, status: Int, request: [UInt8], response: [UInt8],
        pieces: [Piece] = []
    ) {
        self.number = number
        self.method = method
        self.status = status
        self.request = request
        self.response = response
        self.pieces = pieces
    }

    /// The pieces in which the request arrived; one piece if they were not recorded.
    public var requestPieces: [[UInt8]] {
        var rest = request[...]
        var parts: [[UInt8]] = []
        for piece in pieces where piece.isRequest {
            let count = max(0, piece.count)
            parts.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        if !rest.isEmpty { parts.append(Array(rest)) }
        return parts
    }

    private var name: String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 3 - digits.count)) + digits
    }

    // MARK: Files

    /// Writes the files into an existing folder, and replaces an earlier exchange with this number.
    /// - Throws: `SystemError` if a file cannot be written or removed.
    public func write(into folder: String) throws {
        // An earlier response with another status would be read as the response to this request.
        for old in try Syscalls.names(in: folder) where old.hasPrefix("\(name)-") {
            guard old.hasSuffix(".request") || old.hasSuffix(".response") else { continue }
            try Syscalls.deleteFile("\(folder)/\(old)")
        }
        try Self.write(request, to: "\(folder)/\(name)-\(method).request")
        try Self.write(response, to: "\(folder)/\(name)-\(status).response")
        let lines = pieces.map { "\($0.isRequest ? ">" : "<") \($0.milliseconds) \($0.count)\n" }
        try Self.write(Array(lines.joined().utf8), to: "\(folder)/\(name).timing")
    }

    private static func write(_ bytes: [UInt8], to path: String) throws {
        try Syscalls.storeFile(path, bytes, permissions: 0o666)
    }

    /// The exchanges of a folder, in order; a request without a response is left out.
    /// - Throws: `SystemError` when the folder or a file cannot be read.
    public static func all(in folder: String) throws -> [RecordedExchange] {
        let names = try Syscalls.names(in: folder)
        let exchanges = try names.sorted().compactMap { name -> RecordedExchange? in
            guard let dash = name.firstIndex(of: "-"), name.hasSuffix(".request"),
                let number = Int(name[..<dash]),
                let answer = names.first(where: {
                    $0.hasPrefix(name[...dash]) && $0.hasSuffix(".response")
                }),
                let status = Int(answer[answer.index(after: dash)...].dropLast(9))
            else { return nil }
            let timing = name[..<dash] + ".timing"
            return RecordedExchange(
                number: number, method: String(name[name.index(after: dash)...].dropLast(8)),
                status: status, request: try Syscalls.readFile("\(folder)/\(name)"),
                response: try Syscalls.readFile("\(folder)/\(answer)"),
                pieces: names.contains(String(timing)) ? try pieces("\(folder)/\(timing)") : [])
        }
        return exchanges.sorted { $0.number < $1.number }
    }

    private static func pieces(_ path: String) throws -> [Piece] {
        let text = String(decoding: try Syscalls.readFile(path), as: UTF8.self)
        return text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 3, let time = Int(words[1]), let count = Int(words[2]), count >= 0
            else { return nil }
            return Piece(isRequest: words[0] == ">", milliseconds: time, count: count)
        }
    }
}
