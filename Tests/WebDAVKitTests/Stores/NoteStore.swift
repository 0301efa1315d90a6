import Foundation
import HTTPParser
import HTTPServerCore
import WebDAVKit

/// Notes in memory. The article "A store of your own" shows this file.
actor NoteStore: ResourceStore {
    private struct Note {
        var info: ResourceInfo
        var text: [UInt8] = []
    }

    private var notes: [ResourcePath: Note] = [:]
    /// Starts at random, because clients may have the entity tags of an earlier run.
    private var version = Int.random(in: 0..<1 << 52)

    init() {
        notes[.root] = Note(info: ResourceInfo(isCollection: true, modified: Self.now()))
    }

    func info(at path: ResourcePath) async throws -> ResourceInfo {
        guard let note = notes[path] else { throw WebDAVError.notFound }
        return note.info
    }

    func members(
        of path: ResourcePath, withProperties: Bool
    ) async throws -> ResourceMembers {
        let inside = notes.filter { $0.key.parent == path }
        return ResourceMembers(
            inside.map { ResourceMember(name: $0.key.name, info: $0.value.info) })
    }

    func read(_ path: ResourcePath) async throws -> (info: ResourceInfo, body: ResponseBody) {
        guard let note = notes[path], !note.info.isCollection else { throw WebDAVError.notFound }
        return (note.info, .bytes(note.text))
    }

    func write(
        _ bytes: [UInt8], to path: ResourcePath, modified: Int64?
    ) async throws -> ResourceInfo {
        try requireParent(path)
        guard notes[path]?.info.isCollection != true else { throw WebDAVError(.methodNotAllowed) }
        version += 1
        let time = modified.map { InternetTimestamp(secondsSinceEpoch: $0) } ?? Self.now()
        let info = ResourceInfo(
            isCollection: false, length: Int64(bytes.count), modified: time,
            entityTag: EntityTag(opaque: "\(version)"))
        notes[path] = Note(info: info, text: bytes)
        return info
    }

    func makeCollection(at path: ResourcePath) async throws {
        guard notes[path] == nil else { throw WebDAVError(.methodNotAllowed) }
        try requireParent(path)
        notes[path] = Note(info: ResourceInfo(isCollection: true, modified: Self.now()))
    }

    func remove(_ path: ResourcePath) async throws -> [ResourceFailure] {
        guard notes[path] != nil else { throw WebDAVError.notFound }
        notes = notes.filter { !$0.key.isWithin(path) }
        return []
    }

    private func requireParent(_ path: ResourcePath) throws {
        guard let parent = path.parent, notes[parent]?.info.isCollection == true else {
            throw WebDAVError.noParent
        }
    }

    private static func now() -> InternetTimestamp {
        InternetTimestamp(secondsSinceEpoch: Int64(Date().timeIntervalSince1970))
    }
}
