public import HTTPParser

/// Writes a ZIP archive as a stream, without compression.
///
/// The writer performs no input or output. The caller sends the bytes that each call appends to
/// `output`, and the content of each file between `beginFile` and `endFile`:
///
/// <!-- snippet: given time: InternetTimestamp -->
/// ```swift
/// var (writer, archive) = (ZIPWriter(), [UInt8]())
/// try writer.beginFile("notes/a.txt", modified: time, length: 5, into: &archive)
/// writer.content(hello.span)
/// archive += hello
/// try writer.endFile(into: &archive)
/// try writer.finish(into: &archive)
/// ```
///
/// Check values and lengths follow each file in a data descriptor, so that content is read once.
/// Names are UTF-8. Large lengths, offsets and counts are written as ZIP64. The writer keeps the
/// directory of the archive in memory: for each member 55 bytes and its name, and up to 28 more
/// bytes for a member that has 4 GiB or begins after the first 4 GiB.
///
/// APPNOTE.TXT, version 6.3.10 (PKWARE).
public struct ZIPWriter: Sendable {
    /// A file whose content is being written.
    private struct Member: Sendable {
        var name: [UInt8]
        var time: ZIPTime
        var offset: UInt64
        /// Whether its descriptor has lengths of eight bytes.
        var isLarge: Bool
        /// The announced length; nil if unknown.
        var expected: Int64?
        var length: Int64 = 0
        var checksum = ZChecksum.crc
    }

    /// The most bytes of the directory, which is kept in memory.
    private let directoryLimit: Int
    private var directory: [UInt8] = []
    private var count: UInt64 = 0
    /// The length of the archive so far, in bytes.
    private var position: UInt64 = 0
    private var member: Member?
    private var isFinished = false

    /// Creates an empty archive.
    /// - Parameter directoryLimit: the most bytes of the directory, which is kept in memory. A
    ///   member that does not fit is refused. The default suffices for more than 500,000 names of
    ///   some 60 bytes.
    public init(directoryLimit: Int = 64 << 20) {
        self.directoryLimit = directoryLimit
    }

    // MARK: Members

    /// Begins a file. Its content follows, and then ``endFile(into:)``.
    /// - Parameters:
    ///   - name: the path in the archive, with `/` between the names; see ``isName(_:)``.
    ///   - modified: the modification time.
    ///   - length: the length of the content in bytes; `nil` if unknown.
    ///   - output: the bytes to send are appended to it.
    /// - Throws: `.invalidArchiveName`, or `.archiveTooLong` if the directory is full.
    public mutating func beginFile(
        _ name: some Collection<UInt8>, modified: InternetTimestamp, length: Int64? = nil,
        into output: inout [UInt8]
    ) throws(CodecError) {
        precondition(member == nil && !isFinished, "a file is open, or the archive is finished")
        let isLarge = length.map { $0 >= Int64(ZIPFormat.max32) } ?? true
        let name = try checked(name)
        let new = Member(
            name: name, time: ZIPTime(modified), offset: position, isLarge: isLarge,
            expected: length)
        var record = ZIPRecord()
        record.local(name, new.time, isFile: true, isLarge: isLarge)
        member = new
        append(record, to: &output)
    }

    /// Begins a file whose name is text.
    public mutating func beginFile(
        _ name: String, modified: InternetTimestamp, length: Int64? = nil,
        into output: inout [UInt8]
    ) throws(CodecError) {
        try beginFile(Array(name.utf8), modified: modified, length: length, into: &output)
    }

    /// Notes content, which the caller sends unchanged.
    public mutating func content(_ bytes: Span<UInt8>) {
        precondition(member != nil, "content belongs to a file")
        member?.checksum.update(bytes)
        member?.length += Int64(bytes.count)
        position += UInt64(bytes.count)
    }

    /// Ends a file.
    /// - Parameter output: what to send is appended to it.
    /// - Throws: `.truncated` or `.archiveTooLong` if the content does not have the announced
    ///   length. The archive cannot be completed then.
    public mutating func endFile(into output: inout [UInt8]) throws(CodecError) {
        guard let member else { preconditionFailure("there is no file to end") }
        if let expected = member.expected, expected != member.length {
            throw CodecError(
                member.length < expected ? .truncated : .archiveTooLong, at: Int64(position),
                "\(member.length) bytes of \(expected)")
        }
        var record = ZIPRecord()
        record.descriptor(
            member.checksum.value, UInt64(member.length), isLarge: member.isLarge)
        append(record, to: &output)
        self.member = nil
        enter(member.name, member.time, member.checksum.value, member.length, member.offset, true)
    }

    /// Adds a folder.
    /// - Parameters:
    ///   - name: the path in the archive, without a slash at the end; see ``isName(_:)``.
    ///   - modified: the modification time.
    ///   - output: the bytes to send are appended to it.
    /// - Throws: `.invalidArchiveName`, or `.archiveTooLong` if the directory is full.
    public mutating func addFolder(
        _ name: some Collection<UInt8>, modified: InternetTimestamp, into output: inout [UInt8]
    ) throws(CodecError) {
        precondition(member == nil && !isFinished, "a file is open, or the archive is finished")
        // A slash at the end of the name marks a folder (section 4.3.8).
        let name = try checked(name) + [0x2F]
        let (time, offset) = (ZIPTime(modified), position)
        var record = ZIPRecord()
        record.local(name, time, isFile: false, isLarge: false)
        append(record, to: &output)
        enter(name, time, 0, 0, offset, false)
    }

    /// Adds a folder whose name is text.
    public mutating func addFolder(
        _ name: String, modified: InternetTimestamp, into output: inout [UInt8]
    ) throws(CodecError) {
        try addFolder(Array(name.utf8), modified: modified, into: &output)
    }

    /// Ends the archive with its directory.
    /// - Parameter output: what to send is appended to it.
    public mutating func finish(into output: inout [UInt8]) {
        precondition(member == nil && !isFinished, "a file is open, or the archive is finished")
        isFinished = true
        let start = position
        output += directory
        position += UInt64(directory.count)
        var record = ZIPRecord()
        record.end(count: count, start: start, length: UInt64(directory.count))
        directory = []
        append(record, to: &output)
    }

    // MARK: Helpers

    /// Whether a name is allowed in an archive: UTF-8 of at most 32,767 bytes, whose segments are
    /// neither empty, `.` nor `..`, and contain no `\`, no control characters, and no characters
    /// that change the direction of text. A program that unpacks the archive thus never leaves its
    /// folder, on any system, and no name is displayed as another.
    public static func isName(_ name: some Collection<UInt8>) -> Bool {
        let bytes = Array(name)
        guard bytes.count <= 32_767, String(validating: bytes, as: UTF8.self) != nil else {
            return false
        }
        return bytes.split(separator: 0x2F, omittingEmptySubsequences: false).allSatisfy {
            !$0.isEmpty && ZIPName.isSafe(Array($0))
        }
    }

    private func checked(_ name: some Collection<UInt8>) throws(CodecError) -> [UInt8] {
        guard Self.isName(name) else { throw CodecError(.invalidArchiveName, at: Int64(position)) }
        guard directory.count <= directoryLimit - name.count - ZIPFormat.entryRoom else {
            throw CodecError(.archiveTooLong, at: Int64(position), "too many members")
        }
        return Array(name)
    }

    private mutating func append(_ record: ZIPRecord, to output: inout [UInt8]) {
        output += record.bytes
        position += UInt64(record.bytes.count)
    }

    private mutating func enter(
        _ name: [UInt8], _ time: ZIPTime, _ checksum: UInt32, _ length: Int64, _ offset: UInt64,
        _ isFile: Bool
    ) {
        var record = ZIPRecord()
        record.entry(name, time, checksum, UInt64(length), offset, isFile: isFile)
        directory += record.bytes
        count += 1
    }
}

extension ZIPWriter {
    /// Continues a check value. Used by callers that read content on another thread.
    /// - Parameters:
    ///   - bytes: the content that follows.
    ///   - checksum: the check value of the content before, from the previous call; 0 at the start.
    package static func checksum(_ bytes: Span<UInt8>, after checksum: UInt32) -> UInt32 {
        var sum = ZChecksum(crc: checksum)
        sum.update(bytes)
        return sum.value
    }

    /// Notes content whose check value is known.
    /// - Parameters:
    ///   - count: how many bytes were sent.
    ///   - checksum: the check value of all content of the file so far.
    package mutating func content(count: Int, checksum: UInt32) {
        precondition(member != nil, "content belongs to a file")
        member?.checksum = ZChecksum(crc: checksum)
        member?.length += Int64(count)
        position += UInt64(count)
    }

    /// Advances the offset as if `count` bytes had been written. Used in tests for archives that
    /// are longer than any disk.
    package mutating func skip(_ count: UInt64) { position += count }
}
