internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit
internal import Synchronization
internal import ToolkitSystem

/// Reads a directory batch by batch. One call ends before the next begins.
final class LocalMembers: Sendable {
    private static let batchCount = 512
    /// The bytes of dead properties that end a batch.
    private static let batchBytes = 1 << 20

    private let path: ResourcePath
    private let reader: DirectoryReader
    private let withProperties: Bool
    private let start = Syscalls.realtime().seconds
    private let end = Atomic(false)

    /// Whether all names were read.
    var isAtEnd: Bool { end.load(ordering: .relaxed) }

    init(_ store: LocalStore, _ path: ResourcePath, withProperties: Bool) throws {
        self.path = path
        self.withProperties = withProperties
        reader = try DirectoryReader(try store.tree.directory(path.bytes))
    }

    func next(of store: LocalStore) throws(SystemError) -> [ResourceMember]? {
        var members: [ResourceMember] = []
        members.reserveCapacity(Self.batchCount)
        var bytes = 0
        while members.count < Self.batchCount, bytes < Self.batchBytes {
            guard let name = try reader.next() else {
                end.store(true, ordering: .relaxed)
                break
            }
            guard let member = try member(name, of: store) else { continue }
            bytes += member.properties.reduce(0) { $0 + $1.xml.utf8.count }
            members.append(member)
        }
        return members.isEmpty ? nil : members
    }

    /// `nil` for entries that clients must not see: the store's own files, links that lead out, and
    /// anything but files and directories.
    private func member(
        _ name: [UInt8], of store: LocalStore
    ) throws(SystemError) -> ResourceMember? {
        // A member that cannot be read is an error, and must not look missing.
        guard !ReservedNames.contains(name.span),
            var status = try reader.directory.statusIfThere(of: name)
        else { return nil }
        let isLink = status.isLink
        if isLink {
            do throws(SystemError) {
                status = try store.tree.status(of: path.appending(name).bytes)
            } catch {
                // A temporary error, such as a lack of descriptors, says nothing about the target.
                guard !error.isTemporary else { throw error }
                return nil
            }
        }
        guard let info = ResourceInfo(status) else { return nil }
        var member = ResourceMember(name: name, info: info)
        member.isLink = isLink
        guard withProperties else { return member }
        if !isLink {
            member.details = try store.properties.details(
                of: name, in: reader.directory, status, now: start)
        } else {
            do throws(SystemError) {
                let file = try store.tree.open(path.appending(name).bytes)
                member.details = try store.properties.details(of: file, status)
            } catch {
                member.details = try LocalProperties.unreadable(error)
            }
        }
        return member
    }
}
