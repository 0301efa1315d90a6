internal import CHTTPServerShims
internal import Dispatch

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Threads of the system, separate from those of Dispatch and of tasks.
package enum SystemThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// The least size of a stack in bytes. The defaults are 128 KiB on musl and 512 KiB on Apple's
    /// systems.
    private static let stackSize = 4 << 20

    /// Whether the calling thread is the program's main thread. Always true on systems other than
    /// Linux, so that no thread polls or blocks there.
    package static var isMain: Bool {
        #if os(Linux)
            http_server_is_main_thread() != 0
        #else
            true
        #endif
    }

    /// Starts a thread that runs `body` and ends. As on threads of Dispatch, all signals except
    /// those of faults are blocked, so a broken pipe does not end the process either.
    /// - Returns: `false` if the system could not create a thread.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let work = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
        var (signals, before) = (sigset_t(), sigset_t())
        unsafe sigfillset(&signals)
        for fault in [SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGABRT] {
            unsafe sigdelset(&signals, fault)
        }
        // A new thread inherits the signal mask of the thread that starts it.
        unsafe pthread_sigmask(SIG_SETMASK, &signals, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        #if canImport(Glibc)
            var thread = pthread_t()
        #else
            var thread: pthread_t?
        #endif
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        var stack = 0
        unsafe pthread_attr_getstacksize(&attributes, &stack)
        if stack < stackSize { unsafe pthread_attr_setstacksize(&attributes, stackSize) }
        let failure = unsafe pthread_create(
            &thread, &attributes,
            { argument in
                let argument: UnsafeMutableRawPointer? = unsafe argument
                guard let work = unsafe argument else { return nil }
                unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
                return nil
            }, work)
        guard failure == 0 else {
            unsafe Unmanaged<Work>.fromOpaque(work).release()
            return false
        }
        #if canImport(Glibc)
            pthread_detach(thread)
        #else
            if let thread = unsafe thread { unsafe pthread_detach(thread) }
        #endif
        return true
    }

    /// Calls `body` on a new thread, and waits until it ends.
    /// - Returns: the result of `body`; `nil` if the system could not create a thread.
    package static func run<Result>(_ body: () -> Result) -> Result? {
        withoutActuallyEscaping(body) { body in
            nonisolated(unsafe) var call: (() -> Result)? = body
            nonisolated(unsafe) var result: Result?
            let end = DispatchSemaphore(value: 0)
            let mayBlock = http_server_may_block()
            let isStarted = start {
                http_server_set_may_block(mayBlock)
                unsafe result = unsafe call?()
                // The caller's values must not outlive its call.
                unsafe call = nil
                end.signal()
            }
            guard isStarted else { return nil }
            end.wait()
            return unsafe result
        }
    }
}
