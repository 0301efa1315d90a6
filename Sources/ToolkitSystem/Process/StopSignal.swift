internal import Dispatch

#if os(Linux)
    internal import CHTTPServerShims
#endif
#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A signal that stops a program.
public struct StopSignal: Hashable, Sendable {
    /// The system's number of the signal.
    public let number: CInt

    /// Any signal that can be caught.
    public init(number: CInt) {
        self.number = number
    }

    /// SIGINT, which Control-C sends.
    public static var interrupt: Self { Self(number: SIGINT) }
    /// SIGTERM, which service managers send.
    public static var terminate: Self { Self(number: SIGTERM) }
    /// SIGHUP, which a terminal that closes sends.
    public static var hangUp: Self { Self(number: SIGHUP) }
}

/// Watches for signals of the process. The previous disposition of a signal is restored when its
/// last watch ends.
package final class SignalWatch: Sendable {
    private struct Entry: @unchecked Sendable {
        let source: any DispatchSourceProtocol
        #if !os(Linux)
            let previous: sigaction
        #endif
        var watches: [ObjectIdentifier: SignalWatch] = [:]
    }

    private static let queue = DispatchQueue(label: "http.signals")
    private static let entries = Locked<[CInt: Entry]>([:])

    private let signals: Set<StopSignal>
    private let repeats: Bool
    private let action: @Sendable (StopSignal) -> Void

    /// - Parameters:
    ///   - repeats: whether the watch continues until `end`. Otherwise it ends before `action` is
    ///     called, so that a second signal has its usual effect.
    ///   - action: called on a separate queue when one of the signals arrives.
    package init(
        _ signals: Set<StopSignal>, repeats: Bool = false,
        action: @escaping @Sendable (StopSignal) -> Void
    ) {
        self.signals = signals
        self.repeats = repeats
        self.action = action
        for signal in signals { begin(signal.number) }
    }

    private func begin(_ number: CInt) {
        Self.entries.withLock { entries in
            if entries[number] == nil { entries[number] = Self.install(number) }
            entries[number]?.watches[ObjectIdentifier(self)] = self
        }
    }

    /// Ends the watch; further calls do nothing.
    package func end() {
        Self.entries.withLock { entries in
            for signal in signals {
                entries[signal.number]?.watches[ObjectIdentifier(self)] = nil
                guard let entry = entries[signal.number], entry.watches.isEmpty else { continue }
                entries[signal.number] = nil
                Self.uninstall(signal.number, entry)
            }
        }
    }

    #if os(Linux)
        private static func install(_ number: CInt) -> Entry? {
            let target = http_server_catch_signal(number)
            guard target >= 0 else { return nil }
            let source = DispatchSource.makeReadSource(fileDescriptor: target, queue: queue)
            source.setEventHandler { @Sendable in
                var count: UInt64 = 0
                if unsafe read(target, &count, 8) == 8 { came(number) }
            }
            source.activate()
            return Entry(source: source)
        }

        private static func uninstall(_ number: CInt, _ entry: Entry) {
            http_server_release_signal(number)
            entry.source.cancel()
        }
    #else
        private static func install(_ number: CInt) -> Entry? {
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { @Sendable in came(number) }
            source.activate()
            var caught = sigaction()
            var previous = sigaction()
            // A handler and not SIG_IGN, which programs that are started would inherit.
            unsafe caught.__sigaction_u.__sa_handler = { _ in }
            caught.sa_flags = SA_RESTART
            guard unsafe sigaction(number, &caught, &previous) == 0 else {
                source.cancel()
                return nil
            }
            return Entry(source: source, previous: previous)
        }

        private static func uninstall(_ number: CInt, _ entry: Entry) {
            var previous = entry.previous
            unsafe sigaction(number, &previous, nil)
            entry.source.cancel()
        }
    #endif

    private static func came(_ number: CInt) {
        let watches = entries.withLock { Array(($0[number]?.watches ?? [:]).values) }
        for watch in watches {
            if !watch.repeats { watch.end() }
            watch.action(StopSignal(number: number))
        }
    }
}
