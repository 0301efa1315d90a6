public import HTTPServerCore
public import Logging
internal import ToolkitSystem

extension TLSContext {
    /// Reloads the certificates when a file has changed since they were read, until the task is
    /// cancelled.
    ///
    /// Files that cannot be used are logged, once for each change and each reason, and the
    /// certificates stay as they are until a later look can use them. ACME clients such as certbot
    /// need no more than this.
    /// - Parameters:
    ///   - interval: how often the files are looked at.
    ///   - logger: where reloads and failures are noted.
    @concurrent
    public func reloadOnChanges(every interval: Duration = .seconds(60), logger: Logger) async {
        var known = loadedStamps
        // Why the last change is not in use. An error that passes needs no other change.
        var fault: String?
        while !Task.isCancelled {
            do {
                try await Task.sleep(for: interval)
            } catch {
                return
            }
            let new = Self.stamps(of: configuration)
            let isNew = new != known
            guard isNew || fault != nil else { continue }
            known = new
            do throws(TLSError) {
                try reload()
                fault = nil
                logger.notice("certificates were reloaded")
            } catch {
                if isNew || fault != "\(error)" { Self.log(error, logger) }
                fault = "\(error)"
            }
        }
    }

    /// Reloads the certificates, and logs how that went.
    /// - Returns: whether the new ones are in use.
    @discardableResult
    public func reload(_ logger: Logger) -> Bool {
        do throws(TLSError) {
            try reload()
            logger.notice("certificates were reloaded")
            return true
        } catch {
            Self.log(error, logger)
            return false
        }
    }

    private static func log(_ error: TLSError, _ logger: Logger) {
        logger.error("certificates stay as they are", metadata: ["error": "\(error)"])
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
    /// Reads the certificates of all secure endpoints again. New connections get the new ones.
    ///
    /// It reads files and computes, on a thread of its own.
    /// - Throws: the first fault; the certificates that have one stay as they are.
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
        for case let context as TLSContext in listeners.flatMap({ $0.layers.withLock { $0 } })
        where !found.contains(where: { $0 === context }) {
            found.append(context)
        }
        return found
    }
}
