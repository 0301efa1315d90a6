internal import Dispatch
internal import HTTPServerAddresses
internal import ToolkitSystem

#if canImport(Darwin)
    internal import dnssd
#else
    internal import CDNSSD
#endif

/// The work of an advertisement on its queue: it registers the service, resolves the machine's
/// name, follows changes, and begins again when the system's service has ended.
///
/// Everything except `known` and `events` is confined to the queue.
final class BonjourSession: @unchecked Sendable {
    let events = Broadcast<BonjourEvent>()
    private let known = Locked<BonjourService?>(nil)
    /// The service whose name the system has withdrawn, until it has another name.
    private var withdrawn: BonjourService?
    private let queue = DispatchQueue(label: "http.bonjour")
    private var configuration: BonjourConfiguration
    private let firstRetry: Int

    /// The port to announce; `nil` for no announcement.
    private var port: UInt16?
    private var registration: DNSServiceConnection?
    private var resolution: DNSServiceConnection?
    /// Counts the attempts; callbacks of older attempts are ignored.
    private var attempt = 0
    private var failures = 0
    /// The number that is appended to the name, if above 1. The library finds another name after a
    /// conflict with another machine, but Avahi's library does not after a conflict on this
    /// machine.
    private var number = 1
    /// The connections that are closing, and the actions that wait for them: a name that is still
    /// being withdrawn would be a conflict with this session.
    private var closing = 0
    private var afterClosing: [@Sendable () -> Void] = []

    init(_ configuration: BonjourConfiguration, retry: Int = 1_000_000_000) {
        self.configuration = configuration
        firstRetry = retry
    }

    var service: BonjourService? { known.withLock { $0 } }

    // MARK: From any thread

    func start(port: UInt16) {
        queue.async {
            guard self.port != port || self.registration == nil else { return }
            self.port = port
            self.failures = 0
            self.number = 1
            self.close()
            self.whenClosed { self.register() }
        }
    }

    func stop(_ done: @escaping @Sendable () -> Void) {
        queue.async {
            let wasWanted = self.port != nil
            self.port = nil
            self.close()
            self.whenClosed {
                if wasWanted { self.events.send(.stopped) }
                done()
            }
        }
    }

    func update(_ record: TXTRecord) {
        queue.async {
            self.configuration.record = record
            guard let registration = self.registration else { return }
            let bytes = record.bytes
            let code = unsafe DNSServiceUpdateRecord(
                registration.reference, nil, 0, UInt16(bytes.count), bytes, 0)
            if code != 0 { self.fail(BonjourError(code, "DNSServiceUpdateRecord")) }
        }
    }

    // MARK: Registering

    private func register() {
        guard let port, registration == nil else { return }
        attempt += 1
        DNSServiceConnection.prepareLibrary()
        guard let interface = interfaceIndex() else {
            return fail(.noSuchInterface(configuration.interface ?? ""))
        }
        let bytes = configuration.record.bytes
        let name = wantedName
        let domain = configuration.domain.isEmpty ? nil : configuration.domain
        var reference: DNSServiceRef?
        let code = unsafe DNSServiceRegister(
            &reference, 0, interface, name, configuration.registeredType, domain, nil,
            port.bigEndian, UInt16(bytes.count), bytes,
            { _, flags, code, name, type, domain, context in
                unsafe BonjourSession.of(context)?.replied(
                    flags, code, BonjourSession.text(name), BonjourSession.text(type),
                    BonjourSession.text(domain))
            }, context)
        guard code == 0, let reference = unsafe reference else {
            return refused(BonjourError(code, "DNSServiceRegister"))
        }
        registration = unsafe connection(reference)
    }

    /// `nil` for the name of the machine.
    private var wantedName: String? {
        guard number > 1 else { return configuration.name.isEmpty ? nil : configuration.name }
        let ending = " (\(number))"
        var name = configuration.name.isEmpty ? Syscalls.hostName() : configuration.name
        while name.utf8.count + ending.utf8.count > 63 { name.removeLast() }
        return name + ending
    }

    private func refused(_ error: BonjourError) {
        guard error == .nameTaken, number < 100 else { return fail(error) }
        number += 1
        close()
        whenClosed { self.register() }
    }

    /// 0 for all interfaces; `nil` if the configured interface does not exist.
    private func interfaceIndex() -> UInt32? {
        guard let name = configuration.interface else { return 0 }
        return (try? NetworkInterface.all())?.first { $0.name == name }?.index
    }

    /// The library passes this pointer to the callbacks below, on the queue, while a connection is
    /// open. The connection's closure retains this object.
    private var context: UnsafeMutableRawPointer {
        unsafe Unmanaged.passUnretained(self).toOpaque()
    }

    private func connection(_ reference: DNSServiceRef) -> DNSServiceConnection {
        let attempt = self.attempt
        let connection = unsafe DNSServiceConnection(reference, queue: queue) { code in
            guard attempt == self.attempt else { return }
            self.fail(BonjourError(code, "DNSServiceProcessResult"))
        }
        connection.activate()
        return connection
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> BonjourSession? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged.fromOpaque(context).takeUnretainedValue()
    }

    private func replied(
        _ flags: DNSServiceFlags, _ code: Int32, _ name: String, _ type: String, _ domain: String
    ) {
        guard code == 0 else { return refused(BonjourError(code, "DNSServiceRegister")) }
        guard let port else { return }
        failures = 0
        let current = known.withLock { $0 }
        let before = current ?? withdrawn
        let service = BonjourService(
            name: name, type: Self.trimmed(type), domain: Self.trimmed(domain),
            host: before?.host, port: port)
        #if canImport(Darwin)
            // Without this flag, the system has withdrawn the name. Avahi's library never sets the
            // flag.
            guard flags & DNSServiceFlags(kDNSServiceFlagsAdd) != 0 else {
                guard let current, current.name == name, current.domain == service.domain else {
                    return
                }
                withdrawn = current
                return known.withLock { $0 = nil }
            }
        #endif
        // A service may be registered in several domains; the first one is used.
        guard current == nil || current?.name != name else { return }
        withdrawn = nil
        known.withLock { $0 = service }
        if let before, before.name != name {
            events.send(.renamed(service, from: before.name))
        } else {
            events.send(.registered(service))
        }
        resolve(name, type, domain)
    }

    // MARK: The machine's name

    /// Resolves while the service is known, so that a new name of the machine is an event.
    private func resolve(_ name: String, _ type: String, _ domain: String) {
        close(&resolution)
        var reference: DNSServiceRef?
        let code = unsafe DNSServiceResolve(
            &reference, 0, 0, name, type, domain,
            { _, _, _, code, _, host, _, _, _, context in
                // The service may be missing for a moment, as between two names: resolving
                // continues.
                guard code == 0 else { return }
                unsafe BonjourSession.of(context)?.resolved(BonjourSession.text(host))
            }, context)
        guard code == 0, let reference = unsafe reference else {
            return fail(BonjourError(code, "DNSServiceResolve"))
        }
        resolution = unsafe connection(reference)
    }

    private func resolved(_ target: String) {
        let host = Self.trimmed(target)
        let changed = known.withLock { known -> BonjourService? in
            guard var service = known, service.host != host, !host.isEmpty else { return nil }
            service.host = host
            known = service
            return service
        }
        if let changed { events.send(.resolved(changed)) }
    }

    // MARK: Ending, and beginning again

    private func fail(_ error: BonjourError) {
        let isFirst = failures == 0
        failures += 1
        close()
        // A lasting failure is reported once.
        if isFirst { events.send(.failed(error)) }
        let attempt = self.attempt
        let delay = min(firstRetry << min(failures - 1, 6), 60_000_000_000)
        queue.asyncAfter(deadline: .now() + .nanoseconds(delay)) { [weak self] in
            guard let self, attempt == self.attempt, self.port != nil else { return }
            self.whenClosed { self.register() }
        }
    }

    private func close() {
        attempt += 1
        known.withLock { $0 = nil }
        withdrawn = nil
        close(&resolution)
        close(&registration)
    }

    private func close(_ connection: inout DNSServiceConnection?) {
        guard let ending = connection else { return }
        connection = nil
        closing += 1
        ending.close {
            self.closing -= 1
            guard self.closing == 0 else { return }
            let waiting = self.afterClosing
            self.afterClosing = []
            for action in waiting { action() }
        }
    }

    private func whenClosed(_ action: @escaping @Sendable () -> Void) {
        if closing == 0 { action() } else { afterClosing.append(action) }
    }

    private static func text(_ text: UnsafePointer<CChar>?) -> String {
        unsafe text.map { unsafe String(cString: $0) } ?? ""
    }

    /// Names of DNS end with a dot.
    private static func trimmed(_ name: String) -> String {
        name.hasSuffix(".") ? String(name.dropLast()) : name
    }
}
