#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The canonical path of a file that several paths lead to.
extension FileTree {
    private static var linkLimit: Int { 40 }

    /// The path of the same place without links. Missing names stay as they are.
    /// - Parameters:
    ///   - path: a path.
    ///   - followsLast: whether a link at its end is followed as well.
    /// - Throws: `EXDEV` if the path leads out, `ELOOP` if it has too many links or links are not
    ///   followed, `ENAMETOOLONG` if it is deeper than ``OpenDirectory/depthLimit``.
    package func realPath(of path: [UInt8], followsLast: Bool) throws(SystemError) -> [UInt8] {
        let (slash, dot) = (UInt8(ascii: "/"), UInt8(ascii: "."))
        var rest: [[UInt8]] = path.split(separator: slash).reversed().map { Array($0) }
        var (names, around) = ([[UInt8]](), [try directory([])])
        var links = 0
        while let name = rest.popLast() {
            guard name != [dot] else { continue }
            guard name != [dot, dot] else {
                guard names.popLast() != nil else { throw SystemError("open", code: EXDEV) }
                around.removeLast()
                continue
            }
            let here = around[around.count - 1]
            guard let status = try here.statusIfThere(of: name) else {
                guard !rest.contains([dot, dot]) else { throw SystemError("open", code: ENOENT) }
                return Array((names + [name] + rest.reversed()).joined(separator: [slash]))
            }
            guard status.isLink, followsLast || !rest.isEmpty else {
                names.append(name)
                guard !rest.isEmpty else { continue }
                // Each level holds a descriptor, and the client chooses the number of levels.
                guard around.count <= OpenDirectory.depthLimit else {
                    throw SystemError.tooDeep("open")
                }
                around.append(try here.directory(name))
                continue
            }
            links += 1
            guard followsLinks, links <= Self.linkLimit else {
                throw SystemError("open", code: ELOOP)
            }
            let target = try here.linkTarget(of: name)
            guard target.first != slash else { throw SystemError("open", code: EXDEV) }
            rest += target.split(separator: slash).reversed().map { Array($0) }
        }
        return Array(names.joined(separator: [slash]))
    }
}
