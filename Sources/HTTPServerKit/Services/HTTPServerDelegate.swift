public import Dispatch
public import HTTPServerCore
public import ToolkitSystem

/// Gets the events of a server. Every method has a default that does nothing.
///
/// The methods are called one after another, in the order of the events, on the queue that was
/// passed to `HTTPServer.setDelegate(_:queue:)`; never on the main thread unless that is the main
/// queue.
public protocol HTTPServerDelegate: AnyObject, Sendable {
    /// The server listens at these addresses.
    func serverDidStart(_ server: HTTPServer, at addresses: [SocketAddress])
    /// The server was suspended and no longer listens.
    func serverDidSuspend(_ server: HTTPServer)
    /// The server listens again, at the same addresses.
    func serverDidResume(_ server: HTTPServer, at addresses: [SocketAddress])
    /// A listening socket that the system had closed was replaced. These are all current addresses.
    func serverDidRebind(_ server: HTTPServer, at addresses: [SocketAddress])
    /// A connection was opened while no other was open.
    func serverDidConnect(_ server: HTTPServer)
    /// The last connection was closed, and none was opened within the coalescing interval.
    func serverDidDisconnect(_ server: HTTPServer)
    /// The server was shut down; no connection is left.
    func serverDidStop(_ server: HTTPServer, reason: HTTPServer.StopReason)
    /// The server cannot listen.
    func serverDidFail(_ server: HTTPServer, error: ListenError)
}

extension HTTPServerDelegate {
    /// Does nothing.
    public func serverDidStart(_ server: HTTPServer, at addresses: [SocketAddress]) {}
    /// Does nothing.
    public func serverDidSuspend(_ server: HTTPServer) {}
    /// Does nothing.
    public func serverDidResume(_ server: HTTPServer, at addresses: [SocketAddress]) {}
    /// Does nothing.
    public func serverDidRebind(_ server: HTTPServer, at addresses: [SocketAddress]) {}
    /// Does nothing.
    public func serverDidConnect(_ server: HTTPServer) {}
    /// Does nothing.
    public func serverDidDisconnect(_ server: HTTPServer) {}
    /// Does nothing.
    public func serverDidStop(_ server: HTTPServer, reason: HTTPServer.StopReason) {}
    /// Does nothing.
    public func serverDidFail(_ server: HTTPServer, error: ListenError) {}

    fileprivate func take(_ event: HTTPServer.Event, of server: HTTPServer) {
        switch event {
        case .started(let addresses): serverDidStart(server, at: addresses)
        case .suspended: serverDidSuspend(server)
        case .resumed(let addresses): serverDidResume(server, at: addresses)
        case .rebound(let addresses): serverDidRebind(server, at: addresses)
        case .connected: serverDidConnect(server)
        case .disconnected: serverDidDisconnect(server)
        case .stopped(let reason): serverDidStop(server, reason: reason)
        case .failed(let error): serverDidFail(server, error: error)
        }
    }
}

extension HTTPServer {
    /// Sets the delegate that gets events from now on, instead of the old delegate.
    /// - Parameters:
    ///   - delegate: the delegate, held weakly; `nil` to remove the old one.
    ///   - queue: the queue on which its methods are called, one at a time even if the queue is
    ///     concurrent; `nil` for a private queue. Methods may block: neither serving nor `events`
    ///     waits for them.
    public func setDelegate(_ delegate: (any HTTPServerDelegate)?, queue: DispatchQueue? = nil) {
        guard let delegate else { return sendEvents(to: nil) }
        let serial = DispatchQueue(label: "http.delegate", target: queue)
        sendEvents(
            to: EventReceiver(queue: serial) { [weak self, weak delegate] event in
                guard let self, let delegate else { return }
                delegate.take(event, of: self)
            })
    }
}
