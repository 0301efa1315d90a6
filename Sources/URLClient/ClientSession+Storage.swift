internal import HTTPCodecs

// The storage of a session that outlives its tasks.
extension ClientSession {
    /// Empties what the session keeps: cookies, stored responses, credentials, the token and strict
    /// hosts; then the same as ``flush()``. A storage that it shares with others is emptied for them,
    /// too. A response that is under way is not stored.
    public func reset() async {
        configuration.cookies?.removeAll()
        configuration.cache?.removeAll()
        configuration.strictTransport?.removeAll()
        policy.authenticator.reset()
        await flush()
    }

    /// Writes what is kept in files: cookies, strict hosts and stored responses; what cannot be
    /// written is tried again with the next change. And closes the connections, at once or as soon
    /// as no task runs, so that the next request makes a new one.
    public func flush() async {
        try? configuration.cookies?.save()
        try? configuration.strictTransport?.save()
        await configuration.cache?.flush()
        await withCheckedContinuation { continuation in
            loop.closeConnections { continuation.resume() }
        }
    }
}
