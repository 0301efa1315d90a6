internal import Dispatch

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A signal by which a program is told to stop.
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

/// Waits for signals of the process; what they did before is put back when nobody waits any more.
///
/// While it waits a signal is ignored as far as the system is concerned, and so it is by programs
/// that are started meanwhile, unless they say otherwise.
final class SignalWatch: Sendable {
    private struct Entry: @unchecked Sendable {
        let source: any DispatchSourceSignal
        let previous: sigaction
        var watches: [ObjectIdentifier: SignalWatch] = [:]
    }

    private static let queue = DispatchQueue(label: "http.signals")
    private static let entries = Locked<[CInt: Entry]>([:])

    private let signals: Set<StopSignal>
    private let action: @Sendable (StopSignal) -> Void

    /// - Parameter action: called on a queue of its own for the first of the signals that comes.
    ///   By then the watch has ended, so that a second signal does what it did before.
    init(_ signals: Set<StopSignal>, action: @escaping @Sendable (StopSignal) -> Void) {
        self.signals = signals
        self.action = action
        for signal in signals { begin(signal.number) }
    }

    private func begin(_ number: CInt) {
        Self.entries.withLock { entries in
            if entries[number] == nil { entries[number] = Self.install(number) }
            entries[number]?.watches[ObjectIdentifier(self)] = self
        }
    }

    /// Ends the watch; the second time it does nothing.
    func end() {
        Self.entries.withLock { entries in
            for signal in signals {
                entries[signal.number]?.watches[ObjectIdentifier(self)] = nil
                guard let entry = entries[signal.number], entry.watches.isEmpty else { continue }
                entries[signal.number] = nil
                Self.uninstall(signal.number, entry)
            }
        }
    }

    /// Dispatch may put a handler of its own in, which must not be overwritten: so it comes last.
    private static func install(_ number: CInt) -> Entry {
        var ignore = sigaction()
        var previous = sigaction()
        #if canImport(Darwin)
            ignore.__sigaction_u.__sa_handler = SIG_IGN
        #else
            unsafe ignore.__sigaction_handler.sa_handler = SIG_IGN
        #endif
        unsafe sigaction(number, &ignore, &previous)
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler { @Sendable in came(number) }
        source.activate()
        return Entry(source: source, previous: previous)
    }

    private static func uninstall(_ number: CInt, _ entry: Entry) {
        entry.source.cancel()
        var previous = entry.previous
        unsafe sigaction(number, &previous, nil)
    }

    private static func came(_ number: CInt) {
        let watches = entries.withLock { Array(($0[number]?.watches ?? [:]).values) }
        for watch in watches {
            watch.end()
            watch.action(StopSignal(number: number))
        }
    }
}
