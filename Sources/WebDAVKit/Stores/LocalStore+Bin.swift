internal import HTTPParser
internal import HTTPServerCore
internal import ToolkitSystem

/// The bin: a deletion is one rename, and another rename undoes it.
extension LocalStore {
    /// Moves a file or a tree into the folder of this process below `.httpkit-dav`. It is removed
    /// with that folder: when the store closes, or, if the process dies, when the next store opens.
    /// - Returns: `nil` if the folder cannot be created, or is on another volume.
    public func discard(_ path: ResourcePath) async throws -> String? {
        try await work { [self] () throws -> String? in
            try Self.requireForeign(path)
            let target = try place(of: path)
            let status = try target.directory.status(of: target.name)
            staging.renewIfGone()
            guard let aside = staging.placeInSession(for: target) else { return nil }
            do throws(SystemError) {
                try target.directory.rename(target.name, to: aside, .replacing)
            } catch {
                guard error.isAcrossVolumes || error.isUnsupported else { throw error }
                return nil
            }
            if status.kind != .regular { canonicalNames.forget() }
            do throws(SystemError) {
                try synchronize([target])
            } catch {
                // The answer reports that nothing was deleted.
                try? Self.rename(aside, toFree: target)
                throw error
            }
            let name = String(decoding: aside.name, as: UTF8.self)
            bin.withLock { $0[name] = aside }
            return name
        }
    }

    /// Moves a discarded file or tree back to a path.
    public func restore(_ name: String, to path: ResourcePath) async throws {
        try await work { [self] () throws in
            try Self.requireForeign(path)
            guard let aside = bin.withLock({ $0[name] }) else { throw WebDAVError.notFound }
            let target = try place(of: path)
            guard try target.directory.statusIfThere(of: target.name) == nil else {
                throw WebDAVError(.methodNotAllowed)
            }
            do throws(SystemError) {
                try aside.directory.rename(aside.name, to: target, .creating)
            } catch {
                guard error.isUnsupported else { throw error }
                try aside.directory.rename(aside.name, to: target, .replacing)
            }
            canonicalNames.forget()
            do throws(SystemError) {
                try synchronize([target])
            } catch {
                // The answer reports that nothing was restored.
                try? Self.rename(target, toFree: aside)
                throw error
            }
            bin.withLock { $0[name] = nil }
        }
    }

    /// Removes a discarded file or tree with its dead properties.
    public func forget(_ name: String) async {
        guard let aside = bin.withLock({ $0.removeValue(forKey: name) }) else { return }
        await BlockingPool.files.value { [self] in
            _ = clock.removing { aside.directory.removeTree(aside.name, onRemoval: onRemoval) }
        }
    }

    /// Removes all discarded files and trees, which no longer count. It blocks.
    func emptyBin() {
        let discarded = bin.withLock { bin in
            defer { bin = [:] }
            return Array(bin.values)
        }
        for aside in discarded {
            _ = clock.removing { aside.directory.removeTree(aside.name, onRemoval: onRemoval) }
        }
    }
}
