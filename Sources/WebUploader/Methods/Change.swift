internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import Logging
internal import WebDAVKit

extension UploaderSite {
    /// Reads the form of a change, and refuses it unless it is from a page of this handler.
    private func fields(_ call: UploaderCall) async throws -> FormFields {
        let fields = try await FormFields.read(call.request)
        try requireToken(call, fields)
        return fields
    }

    private func path(
        _ fields: FormFields, _ names: String...
    ) async throws -> ResourcePath {
        guard let bytes = names.lazy.compactMap({ fields[$0] }).first else {
            throw UploaderError(.badRequest, .field, "\(names[0]) is missing")
        }
        return try UploaderCall.path(bytes)
    }

    // MARK: Folders

    /// `POST create`: makes a folder. Its parent must exist.
    func create(_ call: UploaderCall) async throws -> Response {
        try call.require(call.role.mayUpload)
        let fields = try await fields(call)
        var path = try await path(fields, "path")
        // A page without script sends the name in a separate field.
        if let name = fields["name"] { path = try member(of: path, named: name) }
        // The page needs `refuse` for the folders around the files that it uploads.
        var conflict = try call.conflict(fields["conflict"], options, mayRefuse: true)
        // Folders do not replace anything.
        if conflict == .replace { conflict = .refuse }
        let made = try await make(path, conflict, call)
        return try answer(
            [Changed(made, isFolder: true)], in: made.parent ?? .root, .created, call)
    }

    /// Makes a folder.
    /// - Returns: its path, with a number if the name was taken.
    func make(
        _ wished: ResourcePath, _ conflict: NameConflict, _ call: UploaderCall
    ) async throws -> ResourcePath {
        try await perform(.createFolder(wished), call) {
            try files.requireName(wished, isFolder: true)
            let path = try await files.canonical(wished)
            let made = try await files.withName(path, isFolder: true, conflict, call) { path, _ in
                try await files.store.makeCollection(at: path)
                return path
            }
            return (made, .createFolder(made))
        }
    }

    private func member(
        of folder: ResourcePath, named name: [UInt8]
    ) throws(UploaderError) -> ResourcePath {
        guard let path = ResourcePath(segments: folder.segments + [name]) else {
            throw UploaderError(.badRequest, .path, "malformed name")
        }
        return path
    }

    // MARK: Move and copy

    /// `POST move` and `POST copy`: from `oldPath` to `newPath`, or, to rename, from `path` to the
    /// name `newName` in the same folder.
    func moveOrCopy(_ call: UploaderCall, isMove: Bool) async throws -> Response {
        try call.require(call.role.mayChange)
        let fields = try await fields(call)
        let old = try await path(fields, "oldPath", "path")
        guard !old.isRoot else {
            throw UploaderError(.forbidden, .path, "the root cannot be changed")
        }
        let wished: ResourcePath
        if let name = fields["newName"], let folder = old.parent {
            wished = try member(of: folder, named: name)
        } else {
            wished = try await path(fields, "newPath")
        }
        let conflict = try conflictOfMove(fields, call)
        let (source, found) = (
            try await files.canonical(old), try await canonicalTarget(wished)
        )
        // If the store ignores case, the new name may be another spelling of the old one.
        let isRespelled = isMove && found == source && wished.name != source.name
        let target = isRespelled ? source.parent?.appending(wished.name) ?? found : found
        let operation = { (target: ResourcePath) -> UploaderOperation in
            isMove ? .move(source, to: target) : .copy(source, to: target)
        }
        var hold: UploaderQuota.Hold?
        defer { withExtendedLifetime(hold) {} }
        let changed = try await perform(operation(target), call) {
            let info = try await files.info(source)
            try files.requireName(target, isFolder: info.isCollection)
            if !isMove, quota.isSet {
                hold = try await quota.hold(try await size(of: source, info), for: call.request)
            }
            let (placed, now) =
                if isRespelled {
                    (try await respell(source, as: target, call), info)
                } else if isMove, source == target {
                    (source, info)
                } else {
                    try await place(
                        source, info, at: target, conflict, isMove: isMove, hold, call)
                }
            hold?.place()
            let changed = Changed(
                placed, isFolder: now.isCollection, size: now.isCollection ? nil : now.length)
            return (changed, operation(placed))
        }
        return try answer([changed], in: source.parent ?? .root, .ok, call)
    }

    /// The action when the new name is taken. `replace` from the options applies only to uploads: a
    /// move must not destroy a file that happens to have the new name.
    private func conflictOfMove(
        _ fields: FormFields, _ call: UploaderCall
    ) throws(UploaderError) -> NameConflict {
        let conflict = try call.conflict(fields["conflict"], options)
        let isChosen = fields["conflict"].map { !$0.isEmpty } ?? false
        return conflict == .replace && !isChosen ? .refuse : conflict
    }

    /// The canonical target of a move or copy. A hidden target gets 403 with the code `hidden`, not
    /// 404.
    private func canonicalTarget(_ path: ResourcePath) async throws -> ResourcePath {
        try files.requireName(path, isFolder: true)
        return try await files.canonical(path)
    }

    /// Changes only the spelling of a name, such as its case.
    private func respell(
        _ source: ResourcePath, as path: ResourcePath, _ call: UploaderCall
    ) async throws -> ResourcePath {
        try await files.hold([source, path], call) {
            try await files.requireUnlocked(source, andMembership: true, andInside: true)
            try await files.store.move(source, to: path, replaces: true)
            await giveUpLocks(inside: source, call)
            return path
        }
    }

    private func place(
        _ source: ResourcePath, _ info: ResourceInfo, at target: ResourcePath,
        _ conflict: NameConflict, isMove: Bool, _ quotaHold: UploaderQuota.Hold?,
        _ call: UploaderCall
    ) async throws -> (ResourcePath, ResourceInfo) {
        let isFolder = info.isCollection
        return try await files.withName(target, and: [source], isFolder: isFolder, conflict, call) {
            path, old in
            // During the wait the source may have been removed, or replaced by a longer file or by
            // a folder. The new name was checked only for the old kind of source.
            let now = try await files.info(source)
            guard now.isCollection == isFolder else { throw UploaderError(.notFound, nil) }
            if let quotaHold { try quotaHold.reach(try await size(of: source, now)) }
            if isMove {
                try await files.requireUnlocked(source, andMembership: true, andInside: true)
            }
            // A target inside of the source, or around it, would destroy the source.
            guard try await !files.store.overlap(source, path) else {
                throw UploaderError(.forbidden, .path, "source and destination overlap")
            }
            if isMove {
                try await files.store.move(source, to: path, replaces: old != nil)
                await giveUpLocks(inside: source, call)
            } else {
                try await files.store.copy(source, to: path, deep: true, replaces: old != nil)
            }
            return (path, now)
        }
    }

    private func giveUpLocks(inside path: ResourcePath, _ call: UploaderCall) async {
        do {
            try await files.dav.locks.removeAll(inside: path, includingRoot: true)
        } catch {
            call.request.logger.error(
                "locks on removed resources could not be released", metadata: ["error": "\(error)"])
        }
    }

    // MARK: Delete

    /// `POST delete`: deletes files and folders with their contents, one after the other. A browser
    /// without script gets a page that asks for confirmation first.
    func delete(_ call: UploaderCall) async throws -> Response {
        try call.require(call.role.mayChange)
        let fields = try await fields(call)
        let paths = try fields.values(of: "path").map { try UploaderCall.path($0) }
        guard let first = paths.first else {
            throw UploaderError(.badRequest, .field, "path is missing")
        }
        guard paths.allSatisfy({ !$0.isRoot }) else {
            throw UploaderError(.forbidden, .path, "the root cannot be removed")
        }
        if call.wantsPage, fields["confirmed"] == nil { return confirmation(paths, call) }
        var removed: [Changed] = []
        for path in paths {
            removed.append(try await remove(path, call))
        }
        return try answer(removed, in: first.parent ?? .root, .ok, call)
    }

    private func remove(_ path: ResourcePath, _ call: UploaderCall) async throws -> Changed {
        let path = try await files.canonical(path)
        guard !path.isRoot else {
            throw UploaderError(.forbidden, .path, "the root cannot be removed")
        }
        return try await perform(.delete(path), call) {
            let (isFolder, undo) = try await files.hold([path], call) {
                let info = try await files.info(path)
                try await files.requireUnlocked(path, andMembership: true, andInside: true)
                // A page without script has no button to undo a deletion.
                let undo: String? =
                    try await call.wantsPage
                    ? nil : bin.discard(path, isFolder: info.isCollection, call)
                if undo == nil {
                    let failures = try await files.store.remove(path)
                    if let failure = failures.first { throw failure.error }
                }
                await giveUpLocks(inside: path, call)
                return (info.isCollection, undo)
            }
            var changed = Changed(path, isFolder: isFolder)
            changed.undo = undo
            return (changed, .delete(path))
        }
    }

    /// `POST restore`: restores deleted files, by the values `undo` that the deletion returned.
    func restore(_ call: UploaderCall) async throws -> Response {
        try call.require(call.role.mayChange)
        let fields = try await fields(call)
        let keys = fields.values(of: "undo")
        guard !keys.isEmpty else {
            throw UploaderError(.badRequest, .field, "undo is missing")
        }
        var restored: [Changed] = []
        for key in keys { restored.append(try await restore(key, call)) }
        return try answer(restored, in: .root, .ok, call)
    }

    private func restore(_ bytes: [UInt8], _ call: UploaderCall) async throws -> Changed {
        // To look up a long text as a string may take minutes.
        let key = bytes.count == UploaderBin.keyLength ? String(decoding: bytes, as: UTF8.self) : ""
        guard let item = bin.take(key, call) else {
            throw UploaderError(.notFound, .undo, "the item is no longer in the bin")
        }
        do {
            return try await perform(.restore(item.path), call) {
                let path = try await files.canonical(item.path)
                let placed = try await files.withName(
                    path, isFolder: item.isFolder, .keepBoth, call
                ) { path, _ in
                    try await files.store.restore(item.name, to: path)
                    return path
                }
                return (Changed(placed, isFolder: item.isFolder), .restore(placed))
            }
        } catch {
            bin.keep(item, key)
            throw error
        }
    }
}
