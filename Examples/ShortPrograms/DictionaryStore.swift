// One of the programs whose lines Docs/ShortPrograms.md counts: those between the marks.

import HTTPServerToolkit
import WebDAVKit

// begin
/// Files in memory, all of them at the root.
actor DictionaryStore: ResourceStore {
    private var files: [ResourcePath: [UInt8]] = [:]

    func info(at path: ResourcePath) throws -> ResourceInfo {
        let time = InternetTimestamp(secondsSinceEpoch: 0)
        if path.isRoot { return ResourceInfo(isCollection: true, modified: time) }
        guard let file = files[path] else { throw WebDAVError.notFound }
        return ResourceInfo(isCollection: false, length: Int64(file.count), modified: time)
    }
    func members(of path: ResourcePath, withProperties: Bool) throws -> ResourceMembers {
        ResourceMembers(
            try files.keys.map { ResourceMember(name: $0.name, info: try info(at: $0)) })
    }
    func read(_ path: ResourcePath) throws -> (info: ResourceInfo, body: ResponseBody) {
        (try info(at: path), .bytes(files[path] ?? []))
    }
    func write(_ bytes: [UInt8], to path: ResourcePath, modified: Int64?) throws -> ResourceInfo {
        guard path.parent?.isRoot == true else { throw WebDAVError.noParent }
        files[path] = bytes
        return try info(at: path)
    }
    func makeCollection(at path: ResourcePath) throws { throw WebDAVError.forbidden }
    func remove(_ path: ResourcePath) throws -> [ResourceFailure] {
        files[path] = nil
        return []
    }
}
// end
