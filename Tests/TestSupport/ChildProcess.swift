internal import HTTPServerCore
internal import ToolkitSystem

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    // For `environ`, which does not change while tests run.
    @unsafe @preconcurrency internal import Glibc
#elseif canImport(Musl)
    @unsafe @preconcurrency internal import Musl
#endif

/// A child process of the tests, started with posix_spawn. A separate thread waits for its end.
final class ChildProcess: Sendable {
    private struct State {
        var status: CInt?
        var waiters: [CheckedContinuation<CInt, Never>] = []
    }

    let pid: CInt
    private let isGroup: Bool
    private let state = Locked(State())

    init(
        _ path: String, _ arguments: [String], streams: ProgramStreams, errors: CInt?,
        environment: [String: String]?, folder: String?, isGroup: Bool
    ) throws {
        var actions = SpawnActions()
        defer { actions.destroy() }
        actions.connect(streams.input.descriptor, to: 0)
        actions.connect(streams.output.descriptor, to: 1)
        actions.connect(errors ?? streams.complaints.descriptor, to: 2)
        var attributes = SpawnAttributes(isGroup: isGroup)
        defer { attributes.destroy() }
        // Not all systems have an action of posix_spawn that changes the folder.
        let enter = folder.map { ["/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", $0] } ?? []
        let words = enter + [path] + arguments
        let argumentList = CStrings(words)
        let variables = CStrings(Self.variables(adding: environment ?? [:]))
        var pid: pid_t = 0
        let failure = unsafe posix_spawn(
            &pid, words[0], &actions.value, &attributes.value, argumentList.pointers,
            variables.pointers)
        guard failure == 0 else {
            throw Program.Failure(
                "cannot start \(path): \(unsafe String(cString: strerror(failure)))")
        }
        self.pid = pid
        self.isGroup = isGroup
        OwnThread.start { self.reap() }
    }

    /// The child stays a zombie until the lock is taken, so that a signal never reaches another
    /// process with the same identifier.
    private func reap() {
        var info = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        let (status, waiters) = state.withLock { state in
            if isGroup { _ = systemKill(-pid, SIGKILL) }
            var status: CInt = 0
            let isReaped = unsafe waitpid(pid, &status, 0) == pid
            let waiters = state.waiters
            state.waiters = []
            state.status = isReaped ? Self.meaning(of: status) : -SIGCHLD
            return (state.status ?? 0, waiters)
        }
        for waiter in waiters { waiter.resume(returning: status) }
    }

    /// The exit status, or minus the signal's number; the macros of wait(2) are not imported.
    private static func meaning(of status: CInt) -> CInt {
        status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }

    /// The meaning of its status, once it has ended.
    var status: CInt? { state.withLock { $0.status } }

    func signal(_ number: CInt) {
        state.withLock { state in
            if state.status == nil { _ = systemKill(pid, number) }
        }
    }

    func kill() {
        state.withLock { state in
            if state.status == nil { _ = systemKill(isGroup ? -pid : pid, SIGKILL) }
        }
    }

    func end() async -> CInt {
        await withCheckedContinuation { continuation in
            let status = state.withLock { state in
                if state.status == nil { state.waiters.append(continuation) }
                return state.status
            }
            if let status { continuation.resume(returning: status) }
        }
    }

    private static func variables(adding new: [String: String]) -> [String] {
        var all = new.map { "\($0.key)=\($0.value)" }
        #if canImport(Darwin)
            var next = unsafe _NSGetEnviron().pointee
        #else
            var next: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe environ
        #endif
        while let text = unsafe next?.pointee {
            let variable = unsafe String(cString: text)
            let name = variable.prefix { $0 != "=" }
            if new[String(name)] == nil { all.append(variable) }
            unsafe next = unsafe next?.successor()
        }
        return all
    }
}

private let systemKill = kill
