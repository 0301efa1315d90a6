internal import Dispatch

#if canImport(Darwin)
    internal import dnssd
#else
    internal import CDNSSD
#endif

/// One connection to the system's service for DNS-SD, and the source that reads it.
///
/// Confined to the queue that is passed to `init`.
@safe
final class DNSServiceConnection: @unchecked Sendable {
    let reference: DNSServiceRef
    private let source: any DispatchSourceRead
    private var whenClosed: @Sendable () -> Void = {}

    #if !canImport(Darwin)
        private static let memoryIsCleared: Void = http_avahi_clear_memory()
    #endif

    /// Call this before the first connection: Avahi's library reads uninitialised memory.
    static func prepareLibrary() {
        #if !canImport(Darwin)
            memoryIsCleared
        #endif
    }

    /// - Parameters:
    ///   - reference: the reference that a call of the library returned; this object releases it.
    ///   - failed: called with the error code when the service has ended.
    init(
        _ reference: DNSServiceRef, queue: DispatchQueue,
        failed: @escaping @Sendable (Int32) -> Void
    ) {
        unsafe self.reference = reference
        source = DispatchSource.makeReadSource(
            fileDescriptor: unsafe DNSServiceRefSockFD(reference), queue: queue)
        source.setEventHandler { @Sendable [weak self] in
            guard let self else { return }
            let code = unsafe DNSServiceProcessResult(self.reference)
            if code != 0 { failed(code) }
        }
        // The library closes the descriptor, so the source must be cancelled first.
        source.setCancelHandler { @Sendable [self] in
            unsafe DNSServiceRefDeallocate(self.reference)
            whenClosed()
            whenClosed = {}
        }
    }

    func activate() { source.activate() }

    /// Ends the connection. Every connection must be closed: its source retains this object until
    /// then.
    func close(_ done: @escaping @Sendable () -> Void) {
        whenClosed = done
        source.cancel()
    }
}

extension BonjourError {
    /// - Parameter code: a number of `dns_sd.h`; Avahi's library has only the older ones.
    init(_ code: Int32, _ call: String) {
        switch code {
        case -65563, -65569: self = .unavailable  // ServiceNotRunning, DefunctConnection
        case -65547, -65548: self = .nameTaken  // AlreadyRegistered, NameConflict
        case -65555, -65570: self = .notPermitted  // NoAuth, PolicyDenied
        default:
            #if os(Linux)
                // Avahi's library reports Unknown for a daemon that does not run or ends.
                self = code == -65537 ? .unavailable : .system(call: call, code: code)
            #else
                self = .system(call: call, code: code)
            #endif
        }
    }
}
