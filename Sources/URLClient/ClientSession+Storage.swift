internal import HTTPCodecs

// The storage of a session that outlives its tasks.
extension ClientSession {
    /// Removes all cookies, stored responses, credentials, the token and the hosts that require
    /// https; then does the same as ``flush()``. A storage that other sessions share is emptied for
    /// them, too. A response that is being received is not stored.
    public func reset() async {
        configuration.cookies?.removeAll()
        configuration.cache?.removeAll()
        configuration.strictTransport?.removeAll()
        policy.authenticator.reset()
        await flush()
    }

    /// Writes cookies, hosts that require https, and stored responses to their files; a write that
    /// fails is repeated with the next change. Then closes all connections as soon as no task is
    /// running: the next request opens a new one.
    public func flush() async {
        try? configuration.cookies?.save()
        try? configuration.strictTransport?.save()
        await configuration.cache?.flush()
        await withCheckedContinuation { continuation in
            loop.closeConnections { continuation.resume() }
        }
    }
}
