public import HTTPServerCore
public import Logging
internal import ToolkitSystem

extension TLSContext {
    /// Reloads certificates and ticket keys whenever one of their files has changed, until the task
    /// is cancelled. Programs that renew certificates with ACME clients such as certbot need
    /// nothing else.
    ///
    /// If a file cannot be used, the error is logged once for each change and each reason. The old
    /// certificates or ticket keys stay in use, and the reload is tried again at each interval.
    /// - Parameters:
    ///   - interval: the time between two checks of the files.
    ///   - logger: logs reloads and failures.
    @concurrent
    public func reloadOnChanges(every interval: Duration = .seconds(60), logger: Logger) async {
        // Why the files with these stamps are not in use. They are tried again even without a
        // change, because an error may be temporary.
        var fault: (reason: String, stamps: [FileStamp?])?
        while !Task.isCancelled {
            do {
                try await Task.sleep(for: interval)
            } catch {
                return
            }
            let new = Self.stamps(of: configuration)
            // `loadedStamps` also shows reloads by other callers.
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

    /// Reloads certificates and ticket keys, and logs the result.
    /// - Returns: whether all of them were loaded.
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

    /// The stamps of all files; `nil` for a file that cannot be opened.
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
    /// Reloads the certificates and ticket keys of all secure endpoints, whether or not the server
    /// runs. New connections use them.
    ///
    /// Runs on the global executor, because it reads files and computes.
    /// - Throws: the first error. A context with an error in its certificates keeps all of them.
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
        // Read the configuration, because a suspended server has no listeners.
        for case let context as TLSContext in core.configuration.endpoints.flatMap({ $0.layers })
        where !found.contains(where: { $0 === context }) {
            found.append(context)
        }
        return found
    }
}
