public import HTTPServerCore
public import Logging
internal import ToolkitSystem

extension TLSContext {
    /// Reloads the certificates when a file has changed since they were read, until the task is
    /// cancelled.
    ///
    /// Files that cannot be used are logged, once for each change and each reason, and the
    /// certificates or the ticket keys stay as they are until a later look can use them. ACME
    /// clients such as certbot need no more than this.
    /// - Parameters:
    ///   - interval: how often the files are looked at.
    ///   - logger: where reloads and failures are noted.
    @concurrent
    public func reloadOnChanges(every interval: Duration = .seconds(60), logger: Logger) async {
        // Why the files of these stamps are not in use. An error that passes needs no other change.
        var fault: (reason: String, stamps: [FileStamp?])?
        while !Task.isCancelled {
            do {
                try await Task.sleep(for: interval)
            } catch {
                return
            }
            let new = Self.stamps(of: configuration)
            // A reload by another caller counts, too.
            let isNew = new != (fault?.stamps ?? loadedStamps)
            guard isNew || fault != nil else { continue }
            do throws(TLSError) {
                try reload()
                fault = nil
                logger.notice("certificates were reloaded")
            } catch {
                let reason = error.description
                if isNew || fault?.reason != reason { log(error, logger) }
                fault = (reason: reason, stamps: new)
            }
        }
    }

    /// Reloads the certificates, and logs how that went.
    /// - Returns: whether all new ones are in use.
    @discardableResult
    public func reload(_ logger: Logger) -> Bool {
        do throws(TLSError) {
            try reload()
            logger.notice("certificates were reloaded")
            return true
        } catch {
            log(error, logger)
            return false
        }
    }

    private func log(_ error: TLSError, _ logger: Logger) {
        let isOfKeys = error.place == configuration.ticketKeyFile
        let what: Logger.Message =
            isOfKeys ? "ticket keys stay as they are" : "certificates stay as they are"
        logger.error(what, metadata: ["error": "\(error)"])
    }

    /// Changes whenever one of the files does.
    static func stamps(of configuration: TLSConfiguration) -> [FileStamp?] {
        files(of: configuration).map { path in
            guard let file = try? Syscalls.openFile(path) else { return nil }
            defer { Syscalls.close(file) }
            return RootDirectory.status(of: file).map(FileStamp.init)
        }
    }
}

/// The attributes that differ between two versions of a file.
struct FileStamp: Equatable, Sendable {
    var inode: UInt64
    var size: Int64
    var seconds: Int64
    var nanoseconds: Int64

    init(_ status: FileStatus) {
        inode = status.inode
        size = status.size
        seconds = status.changedSeconds
        nanoseconds = status.changedNanoseconds
    }
}

extension HTTPServer {
    /// Reads the certificates of all secure endpoints again, whether or not the server runs. New
    /// connections get the new ones.
    ///
    /// It reads files and computes, on a thread of the tasks' pool.
    /// - Throws: the first fault; the contexts that have one keep all of their certificates.
    @concurrent
    public func reloadCertificates() async throws(TLSError) {
        var fault: TLSError?
        for context in tlsContexts {
            do throws(TLSError) {
                try context.reload()
            } catch {
                fault = fault ?? error
            }
        }
        if let fault { throw fault }
    }

    private var tlsContexts: [TLSContext] {
        var found: [TLSContext] = []
        // A suspended server has no listeners to ask.
        for case let context as TLSContext in core.configuration.endpoints.flatMap({ $0.layers })
        where !found.contains(where: { $0 === context }) {
            found.append(context)
        }
        return found
    }
}
