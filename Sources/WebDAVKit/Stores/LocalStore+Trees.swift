internal import HTTPServerCore

/// Copying and moving.
extension LocalStore {
    /// Copies a file or a tree: aside first, and to its name when it is whole.
    public func copy(
        _ path: ResourcePath, to destination: ResourcePath, deep: Bool
    ) async throws {
        try await work { [self] () throws in
            try copyNow(path, to: destination, deep: deep)
        }
    }

    /// Gives a file or a tree another name. Where that is on another volume, it is copied first.
    public func move(_ path: ResourcePath, to destination: ResourcePath) async throws {
        try await work { [self] () throws in
            try Self.requireForeign(path)
            try Self.requireForeign(destination)
            let source = try place(of: path)
            let target = try place(of: destination)
            _ = try source.directory.status(of: source.name)
            do throws(SystemError) {
                try put(source, at: target, from: path, to: destination)
            } catch {
                guard error.isAcrossVolumes else { throw error }
                try copyNow(path, to: destination, deep: true)
                let faults = source.directory.removeTree(
                    source.name, onRemoval: properties.onRemoval)
                if let fault = faults.first { throw fault }
            }
        }
    }

    private func copyNow(_ path: ResourcePath, to destination: ResourcePath, deep: Bool) throws {
        try Self.requireForeign(path)
        try Self.requireForeign(destination)
        let target = try place(of: destination)
        let source: FilePlace
        if path.isRoot {
            source = FilePlace(directory: try tree.directory([]), name: [0x2E])
        } else {
            source = try place(of: path)
        }
        _ = try source.directory.status(of: source.name)
        let new = scratch.place(beside: target)
        let own = try? scratch.ownFolderIfThere()?.status(of: [])
        do {
            try source.directory.copyTree(
                source.name, to: new, deep: deep, leavingOut: own,
                finish: { [properties] (old, new) throws(SystemError) in
                    try properties.copy(from: old, to: new)
                })
            try put(new, at: target, from: nil, to: destination)
        } catch {
            removeTree(new)
            throw error
        }
    }

    /// Gives `new` the name of `target`. What has that name is replaced at once, and then removed.
    /// - Parameters:
    ///   - source: the path of `new`; `nil` for one that nobody sees.
    ///   - path: the path of `target`.
    private func put(
        _ new: FilePlace, at target: FilePlace, from source: ResourcePath?, to path: ResourcePath
    ) throws(SystemError) {
        guard let old = try? target.directory.status(of: target.name) else {
            return try new.directory.rename(new.name, to: target, .replacing)
        }
        let status = try new.directory.status(of: new.name)
        if old.kind != .directory, status.kind != .directory {
            try new.directory.rename(new.name, to: target, .replacing)
            return properties.forget(old)
        }
        let aside = scratch.place(beside: target)
        let note = try? scratch.note(ReplacementNote.prefix)
        if let note {
            let text = ReplacementNote(source: source, target: path, old: old, aside: aside.name)
            try text.write(to: note)
        }
        defer { if let note { try? note.directory.remove(note.name, isDirectory: false) } }
        do throws(SystemError) {
            try new.directory.rename(new.name, to: target, .exchanging)
            // What was there has the name of the new one now.
            guard source != nil else { return removeTree(new) }
            try new.directory.rename(new.name, to: aside, .creating)
        } catch {
            guard error.isUnsupported else { throw error }
            try target.directory.rename(target.name, to: aside, .replacing)
            do throws(SystemError) {
                try new.directory.rename(new.name, to: target, .replacing)
            } catch {
                try? aside.directory.rename(aside.name, to: target, .replacing)
                throw error
            }
        }
        removeTree(aside)
    }

    /// Removes what nobody sees any more.
    private func removeTree(_ place: FilePlace) {
        _ = place.directory.removeTree(place.name, onRemoval: properties.onRemoval)
    }

    /// Whether the paths lead to one thing, or one leads into the other, judged by what is on the
    /// disk: links, and volumes on which case does not count, make other texts the same.
    public func overlap(_ path: ResourcePath, _ other: ResourcePath) async throws -> Bool {
        if path.isWithin(other) || other.isWithin(path) { return true }
        return try await work { [self] () throws in
            try isAbove(path, other) || isAbove(other, path)
        }
    }

    /// Whether what `path` leads to is `inner`, or one of the directories around it.
    private func isAbove(_ path: ResourcePath, _ inner: ResourcePath) throws -> Bool {
        guard let wanted = try? tree.status(of: path.bytes) else { return false }
        if let status = try? tree.status(of: inner.bytes), status.isSameFile(as: wanted) {
            return true
        }
        guard wanted.kind == .directory, let parent = inner.parent else { return false }
        let root = try tree.status(of: [])
        var directory = try tree.directory(parent.bytes)
        // What is mounted at a second place has no way up to the first.
        for status in [try directory.status(of: []), try? tree.status(of: inner.bytes)] {
            if let status, status.kind == .directory, status.device == wanted.device,
                status.mount != wanted.mount, try tree.directory(path.bytes).holds(status)
            {
                return true
            }
        }
        while true {
            let status = try directory.status(of: [])
            if status.isSameFile(as: wanted) { return true }
            if status.isSameFile(as: root) { return false }
            directory = try directory.parent()
        }
    }
}
