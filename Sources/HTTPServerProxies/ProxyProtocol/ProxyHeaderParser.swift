/// Reads the header of the PROXY protocol before a connection's other bytes.
///
/// It takes only the bytes of the header, in pieces of any size. It throws at the first invalid
/// byte. An address of version 1 is checked when the byte after it arrives.
///
/// ```swift
/// var parser = ProxyHeaderParser()
/// let taken = try parser.append(received.span)
/// if let header = parser.header { print(header.source ?? "as the socket says", taken) }
/// ```
///
/// Read the header only from known proxies, and require it from them. Any other peer could claim
/// any address.
public struct ProxyHeaderParser: Sendable {
    private enum State: Sendable {
        case start
        case text(ProxyTextReader)
        case binary(ProxyBinaryReader)
        case failed(ProxyHeaderError)
    }

    private let versions: Set<ProxyHeader.Version>
    private let lengthLimit: Int
    private var state = State.start
    private var count = 0

    /// The header, once it is complete.
    public private(set) var header: ProxyHeader?

    /// Creates a parser.
    /// - Parameters:
    ///   - versions: the versions that are accepted.
    ///   - lengthLimit: the most bytes after the first 16 of version 2, at most 65,535. A header of
    ///     version 1 has at most 107 bytes.
    public init(
        versions: Set<ProxyHeader.Version> = Set(ProxyHeader.Version.allCases),
        lengthLimit: Int = 4_096
    ) {
        self.versions = versions
        self.lengthLimit = lengthLimit
    }

    /// Takes bytes up to the end of the header.
    /// - Returns: the number of bytes that were taken; the others belong to the connection.
    /// - Throws: at the first invalid byte, and again at each further call.
    public mutating func append(_ bytes: Span<UInt8>) throws(ProxyHeaderError) -> Int {
        if case .failed(let error) = state { throw error }
        var taken = 0
        while header == nil, taken < bytes.count {
            do throws(ProxyHeaderError) {
                try take(bytes[taken])
            } catch {
                state = .failed(error)
                throw error
            }
            taken += 1
            count += 1
        }
        return taken
    }

    /// Marks the end of the input.
    /// - Throws: `.truncated` if the header is not complete, or the error that was found before.
    public mutating func finish() throws(ProxyHeaderError) {
        if case .failed(let error) = state { throw error }
        guard header == nil else { return }
        let error = ProxyHeaderError(.truncated, at: count)
        state = .failed(error)
        throw error
    }

    private mutating func take(_ byte: UInt8) throws(ProxyHeaderError) {
        switch state {
        case .failed(let error): throw error
        case .start:
            state = try begin(byte)
            try take(byte)
        case .text(var reader):
            header = try reader.take(byte, at: count)
            state = .text(reader)
        case .binary(var reader):
            // Drops the stored reference, so that appending to the reader's bytes does not copy
            // them.
            state = .start
            header = try reader.take(byte)
            state = .binary(reader)
        }
    }

    private func begin(_ byte: UInt8) throws(ProxyHeaderError) -> State {
        let version: ProxyHeader.Version
        switch byte {
        case ProxyTextReader.name[0]: version = .text
        case ProxyBinaryReader.signature[0]: version = .binary
        default: throw ProxyHeaderError(.noProxyHeader, at: 0)
        }
        guard versions.contains(version) else { throw ProxyHeaderError(.unsupportedVersion, at: 0) }
        return version == .text
            ? .text(ProxyTextReader()) : .binary(ProxyBinaryReader(lengthLimit: lengthLimit))
    }
}
