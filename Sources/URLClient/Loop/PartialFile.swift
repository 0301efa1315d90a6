/// The hidden files next to the destination into which downloads are written.
package enum PartialFile {
    /// The path of a new partial file for a destination.
    static func path(for destination: String, number: UInt64) -> String {
        let slash = destination.lastIndex(of: "/")
        let start = slash.map { destination.index(after: $0) } ?? destination.startIndex
        let name = String(number, radix: 36)
        return "\(destination[..<start]).\(shortened(destination[start...])).\(name)"
    }

    /// Moves a partial file to its destination. If the part of a resumed download is on another
    /// file system, it is copied next to the destination first; the loop blocks meanwhile.
    static func move(
        _ file: System.File, at path: String, to destination: String
    ) -> FileError? {
        guard let error = System.move(path, to: destination) else { return nil }
        guard error.isOtherFileSystem else { return error }
        let other = Self.path(for: destination, number: UInt64.random(in: 0...UInt64.max))
        switch System.create(other, isPrivate: true) {
        case .failure(let error): return error
        case .success(let copy):
            let fault =
                System.copy(file, into: copy) ?? System.closingFault(of: copy)
                ?? System.move(other, to: destination)
            System.remove(fault == nil ? path : other)
            return fault
        }
    }

    /// Whether `name` is that of a partial file for the file name `file`; both without a folder.
    package static func isName(_ name: String, for file: String) -> Bool {
        let prefix = ".\(shortened(file[...]))."
        guard name.hasPrefix(prefix) else { return false }
        let number = name.dropFirst(prefix.count)
        return UInt64(number, radix: 36).map { String($0, radix: 36) == number } ?? false
    }

    /// The name, cut so that a suffix fits into the limit of file systems.
    private static func shortened(_ name: Substring) -> Substring {
        var name = name
        while name.utf8.count > 128 { name.removeLast() }
        return name
    }
}
