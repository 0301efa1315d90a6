/// The names of files that downloads are written into: hidden ones beside their destination.
package enum PartialFile {
    /// The path of a new one for a destination.
    static func path(for destination: String, number: UInt64) -> String {
        let slash = destination.lastIndex(of: "/")
        let start = slash.map { destination.index(after: $0) } ?? destination.startIndex
        let name = String(number, radix: 36)
        return "\(destination[..<start]).\(shortened(destination[start...])).\(name)"
    }

    /// Has a partial file replace its destination. The part of a resumed download may lie on
    /// another file system: a copy beside the destination takes its place then, and the loop waits
    /// until it is written.
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

    /// Whether a name, without its folder, is one of those for a file with the name `file`.
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
