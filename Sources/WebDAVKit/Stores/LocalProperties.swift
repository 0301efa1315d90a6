internal import HTTPParser
internal import ToolkitSystem

/// The dead properties of files. They are in one extended attribute of the file, which is replaced
/// as a whole; if they do not fit, or the file system has no attributes, they are in a separate
/// file.
final class LocalProperties: Sendable {
    #if canImport(Darwin)
        private static let attribute = "httpkit.dav.properties"
    #else
        private static let attribute = "user.httpkit.dav"
    #endif
    /// The most bytes that are read from the attribute; other systems allow more.
    private static let attributeLimit = 64 << 10
    /// The value of the attribute if the properties are in a separate file.
    private static let elsewhere = Array("@".utf8)

    /// The separate files.
    let files: PropertyFiles
    private let absence = PropertyAbsence()

    init(_ files: PropertyFiles) { self.files = files }

    /// - Throws: when existing properties cannot be read: a write would then lose them. An
    ///   attribute that the process must not read counts as missing.
    func read(_ file: OpenFile) throws(SystemError) -> [DeadProperty] {
        PropertyFile.decode(try encoded(of: file))
    }

    /// The dead properties, and the description if it belongs to the current content.
    func details(
        of file: OpenFile, _ status: FileStatus
    ) throws(SystemError) -> ResourceDetails {
        let hasFiles = files.mayExist
        if !hasFiles, absence.holds(status) { return ResourceDetails() }
        let now = Syscalls.realtime().seconds
        let bytes = try encoded(of: file)
        if bytes.isEmpty, !hasFiles { absence.note(status, now: now) }
        return Self.details(bytes, status)
    }

    private static func details(_ bytes: [UInt8], _ status: FileStatus) -> ResourceDetails {
        guard !bytes.isEmpty else { return ResourceDetails() }
        let kept = PropertyFile.split(bytes).kept
        var details = ResourceDetails(properties: PropertyFile.decode(bytes))
        if let kept, kept.isOf(status) { details.content = kept.content }
        return details
    }

    /// The properties of a member of an open directory, without opening the member: most have none.
    /// - Parameters:
    ///   - name: the name of the member.
    ///   - directory: the directory.
    ///   - status: the status of the member.
    ///   - now: a time before `status` was read, in seconds since the epoch.
    func details(
        of name: [UInt8], in directory: OpenDirectory, _ status: FileStatus, now: Int64
    ) throws(SystemError) -> ResourceDetails {
        let hasFiles = files.mayExist
        if !hasFiles, absence.holds(status) { return ResourceDetails() }
        do throws(SystemError) {
            let value = try attribute { () throws(SystemError) in
                try directory.attribute(Self.attribute, of: name, upTo: Self.attributeLimit)
            }
            let bytes = try encoded(value, of: FilePlace(directory: directory, name: name))
            if bytes.isEmpty, !hasFiles { absence.note(status, now: now) }
            return Self.details(bytes, status)
        } catch {
            // Do not cache an absence: unreadable properties may exist.
            return try Self.unreadable(error)
        }
    }

    /// The same as `details(of:_:)`, but empty if the process must not read them.
    func detailsIfReadable(
        of file: OpenFile, _ status: FileStatus
    ) throws(SystemError) -> ResourceDetails {
        do throws(SystemError) {
            return try details(of: file, status)
        } catch {
            return try Self.unreadable(error)
        }
    }

    /// Empty details, unless the error is temporary. A lack of descriptors or a failing disk must
    /// not look like a file without properties: a client that synchronizes would take them for
    /// removed.
    package static func unreadable(_ error: SystemError) throws(SystemError) -> ResourceDetails {
        guard !error.isTemporary else { throw error }
        return ResourceDetails()
    }

    /// - Parameter value: the value of the attribute, if any.
    private func encoded(
        _ value: [UInt8]?, of place: FilePlace
    ) throws(SystemError) -> [UInt8] {
        if let value {
            guard value == Self.elsewhere else { return value }
            files.noteExistence()
        }
        guard files.mayExist else { return [] }
        do throws(SystemError) {
            return try files.content(of: try place.directory.open(place.name)) ?? []
        } catch {
            guard error.isMissing else { throw error }
            return []
        }
    }

    /// Writes dead properties, and keeps the description of the content.
    func write(_ properties: [DeadProperty], to file: OpenFile) throws {
        let kept = PropertyFile.split(try encoded(of: file)).kept
        let bytes = PropertyFile.encode(properties, kept)
        guard bytes.count <= PropertyFile.byteLimit else {
            throw WebDAVError(.insufficientStorage, "too many properties")
        }
        try write(bytes, to: file)
    }

    /// Copies the dead properties of a replaced file to the new one, and stores its description.
    /// Properties that cannot be read are an error, so that they are not lost with the old file. A
    /// description that cannot be stored is left out: a file is complete without it.
    /// - Parameters:
    ///   - old: the replaced file, which is not opened; `nil` if there is none.
    ///   - new: the new file, with its content and its times.
    func replace(
        _ old: FilePlace?, by new: OpenFile, _ status: FileStatus,
        _ description: ContentDescription
    ) throws(SystemError) {
        var bytes: [UInt8] = []
        if let old {
            let value = try attribute { () throws(SystemError) in
                try old.directory.attribute(
                    Self.attribute, of: old.name, upTo: Self.attributeLimit,
                    isForbiddenNone: false)
            }
            bytes = try encoded(value, of: old)
        }
        guard !bytes.isEmpty || !description.isEmpty else { return }
        let kept = description.isEmpty ? nil : KeptDescription(description, of: status)
        let rest = PropertyFile.split(bytes).rest
        let all = PropertyFile.encode([], kept) + rest
        guard !all.isEmpty else { return }
        do throws(SystemError) {
            try write(all, to: new)
        } catch {
            guard rest.isEmpty else { throw error }
        }
    }

    /// Copies all properties to a file with the same content, whose times are set already.
    func copy(from old: OpenFile, to new: OpenFile) throws(SystemError) {
        let bytes = try encoded(of: old)
        guard !bytes.isEmpty else { return }
        try write(try restamped(bytes, from: old.status(), to: new), to: new)
    }

    /// Sets the time of the last change, and keeps the description of the content valid.
    func setModified(_ time: InternetTimestamp, of file: OpenFile) throws(SystemError) {
        let bytes = try encodedIfReadable(of: file)
        let isDescribed = PropertyFile.split(bytes).kept != nil
        let old = isDescribed ? try file.status() : nil
        try file.setModified(time.secondsSinceEpoch, nanoseconds: Int64(time.nanoseconds))
        if let old { try write(try restamped(bytes, from: old, to: file), to: file) }
    }

    /// Updates the description so that it is valid in the file's new state, if it was in the old
    /// one.
    private func restamped(
        _ bytes: [UInt8], from old: FileStatus, to file: OpenFile
    ) throws(SystemError) -> [UInt8] {
        let (kept, rest) = PropertyFile.split(bytes)
        guard let kept else { return bytes }
        let new =
            kept.isOf(old) ? KeptDescription(kept.content, of: try file.status()) : nil
        return PropertyFile.encode([], new) + rest
    }

    private func encodedIfReadable(of file: OpenFile) throws(SystemError) -> [UInt8] {
        do throws(SystemError) {
            return try encoded(of: file)
        } catch {
            guard error.isForbidden else { throw error }
            return []
        }
    }

    private func encoded(of file: OpenFile) throws(SystemError) -> [UInt8] {
        let value = try attribute { () throws(SystemError) in
            try file.attribute(Self.attribute, upTo: Self.attributeLimit)
        }
        if let value {
            guard value == Self.elsewhere else { return value }
            files.noteExistence()
        }
        return try files.content(of: file) ?? []
    }

    /// The value of an attribute; `nil` if the file system has no attributes. Such a file system
    /// has no attribute to indicate that another process has made the first separate file.
    @inline(never)  // Each caller would have a copy of it.
    private func attribute(
        _ read: () throws(SystemError) -> [UInt8]?
    ) throws(SystemError) -> [UInt8]? {
        do throws(SystemError) {
            return try read()
        } catch {
            guard error.isUnsupported else { throw error }
            files.noteExistence()
            return nil
        }
    }

    private func write(_ bytes: [UInt8], to file: OpenFile) throws(SystemError) {
        guard !bytes.isEmpty else {
            return try removeAll(of: file)
        }
        if bytes.count <= Self.attributeLimit {
            do throws(SystemError) {
                try file.setAttribute(Self.attribute, bytes)
                // Older properties in a separate file are no longer read.
                if let status = try? file.status() { files.forget(status) }
                return
            } catch {
                guard error.isUnsupported || error.isAttributeTooLarge else { throw error }
            }
        }
        try files.write(bytes, of: file)
        do throws(SystemError) {
            try file.setAttribute(Self.attribute, Self.elsewhere)
        } catch {
            // Remove the attribute, which would refer to older properties.
            if !error.isUnsupported { try file.removeAttribute(Self.attribute) }
        }
    }

    /// Removes all properties; if it throws, none is removed.
    private func removeAll(of file: OpenFile) throws(SystemError) {
        let value = try attribute { () throws(SystemError) in
            try file.attribute(Self.attribute, upTo: Self.attributeLimit)
        }
        // If the separate file then cannot be removed, it is still read without the attribute.
        guard value != Self.elsewhere else {
            try file.removeAttribute(Self.attribute)
            return try files.remove(of: file)
        }
        // The separate file may be an older one, which must not be read once the attribute is gone.
        try files.remove(of: file)
        try file.removeAttribute(Self.attribute)
    }
}
