internal import HTTPCodecs
internal import ToolkitSystem

/// The file operations of stored cookies, responses and hosts. All of them block until the disk is
/// done. Only the owner may read the files and folders.
enum StoreFiles {
    /// The reason why an existing file is not overwritten: data that could not be read would be
    /// lost.
    enum Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        case unreadable(SystemError)
        case newerVersion(Int)

        var description: String {
            switch self {
            case .unreadable(let failure): "the file could not be read, \(failure)"
            case .newerVersion(let version): "the file has the newer version \(version)"
            }
        }
    }

    /// An open file and its size in bytes.
    typealias Open = (file: OpenFile, size: Int64)

    /// Opens a regular file for reading; a link is `ELOOP`.
    static func open(_ path: String) throws(SystemError) -> Open {
        let (file, status) = try Syscalls.openRegularFile(path, followsLinks: false)
        return (file, status.size)
    }

    /// The bytes of a file; `nil` if the file is missing.
    static func load(_ path: String, upTo limit: Int) throws(SystemError) -> [UInt8]? {
        do throws(SystemError) {
            let (file, size) = try open(path)
            guard size <= Int64(limit) else { throw SystemError.tooLarge("read") }
            return try file.content(upTo: limit)
        } catch {
            guard error.isNoSuchFile else { throw error }
            return nil
        }
    }

    /// Throws for JSON whose `version` is newer.
    static func refuseNewer(
        _ bytes: [UInt8], than version: Int, _ json: JSONBody
    ) throws(Refusal) {
        guard let new = try? json.decode(Version.self, from: bytes).version, new > version else {
            return
        }
        throw .newerVersion(new)
    }

    private struct Version: Decodable {
        let version: Int
    }
}
