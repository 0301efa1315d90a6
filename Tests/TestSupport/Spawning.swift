#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The actions of posix_spawn in the child before the program begins.
@safe struct SpawnActions: ~Copyable {
    #if canImport(Darwin)
        var value: posix_spawn_file_actions_t?
    #else
        var value = unsafe posix_spawn_file_actions_t()
    #endif

    init() { unsafe posix_spawn_file_actions_init(&value) }

    mutating func destroy() { unsafe posix_spawn_file_actions_destroy(&value) }

    mutating func connect(_ file: CInt, to stream: CInt) {
        unsafe posix_spawn_file_actions_adddup2(&value, file, stream)
    }
}

/// How posix_spawn starts the child: no signal blocked or ignored, whatever the tests do, and no
/// open files but the streams; where the system lacks a flag for that, the tests' own files are
/// closed since they are opened with O_CLOEXEC.
@safe struct SpawnAttributes: ~Copyable {
    #if canImport(Darwin)
        var value: posix_spawnattr_t?
    #else
        var value = posix_spawnattr_t()
    #endif

    init(isGroup: Bool) {
        unsafe posix_spawnattr_init(&value)
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&value, &signals)
        unsafe sigfillset(&signals)
        unsafe sigdelset(&signals, SIGKILL)
        unsafe sigdelset(&signals, SIGSTOP)
        unsafe posix_spawnattr_setsigdefault(&value, &signals)
        var flags = CInt(POSIX_SPAWN_SETSIGMASK) | CInt(POSIX_SPAWN_SETSIGDEF)
        #if canImport(Darwin)
            flags |= CInt(POSIX_SPAWN_CLOEXEC_DEFAULT)
        #endif
        if isGroup {
            flags |= CInt(POSIX_SPAWN_SETPGROUP)
            unsafe posix_spawnattr_setpgroup(&value, 0)
        }
        unsafe posix_spawnattr_setflags(&value, CShort(flags))
    }

    mutating func destroy() { unsafe posix_spawnattr_destroy(&value) }
}

/// Strings as C expects them: pointers to bytes that end with NUL, and a null pointer at the end.
@safe struct CStrings: ~Copyable {
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    init(_ texts: [String]) {
        count = texts.count
        unsafe pointers = .allocate(capacity: count + 1)
        for (index, text) in texts.enumerated() {
            unsafe (pointers + index).initialize(to: strdup(text))
        }
        unsafe (pointers + count).initialize(to: nil)
    }

    deinit {
        for index in 0..<count { unsafe free(pointers[index]) }
        unsafe pointers.deallocate()
    }
}
