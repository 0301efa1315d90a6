public import HTTPServerCore
public import ToolkitSystem

/// A listening socket that a service manager opened for this process.
///
/// ```swift
/// let sockets = try InheritedSocket.fromSystemd()
/// if !sockets.isEmpty { configuration.endpoints = sockets.map(\.endpoint) }
/// ```
public struct InheritedSocket: Hashable, Sendable {
    /// The descriptor.
    public let descriptor: CInt
    /// The name in the service manager's configuration; `unknown` if it has none.
    public let name: String

    /// The endpoint with which a server uses this socket.
    public var endpoint: ServerConfiguration.Endpoint { .inherited(descriptor: descriptor) }

    package init(descriptor: CInt, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    /// The sockets that systemd, or a manager with the same protocol, has opened for this process;
    /// empty if there are none. See sd_listen_fds(3).
    ///
    /// Removes the variables `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES` from the environment,
    /// so a second call returns no sockets and child processes do not claim them. Child processes
    /// do not inherit the descriptors. Call it at the start of the program, before other threads
    /// read the environment.
    /// - Throws: ``InheritedSocketError/malformed(_:)`` for an invalid variable.
    public static func fromSystemd() throws(InheritedSocketError) -> [InheritedSocket] {
        var environment: [String: String] = [:]
        for name in variables { environment[name] = Syscalls.environment(name) }
        let sockets = try parse(environment, process: Syscalls.processIdentifier())
        for name in variables { Syscalls.removeEnvironment(name) }
        for socket in sockets { Syscalls.closeOnExec(socket.descriptor) }
        return sockets
    }

    private static let variables = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]

    /// - Parameters:
    ///   - environment: the variables of the process.
    ///   - process: the identifier of the process. Sockets for another process, such as its parent,
    ///     are ignored.
    package static func parse(
        _ environment: [String: String], process: CInt
    ) throws(InheritedSocketError) -> [InheritedSocket] {
        guard let owner = environment["LISTEN_PID"], let text = environment["LISTEN_FDS"] else {
            return []
        }
        guard let owner = number(owner) else { throw .malformed("LISTEN_PID") }
        guard owner == process else { return [] }
        guard let count = number(text), count <= limit else { throw .malformed("LISTEN_FDS") }
        var names = Array(repeating: "unknown", count: Int(count))
        if let list = environment["LISTEN_FDNAMES"], count > 0 {
            names = list.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            guard names.count == count else { throw .malformed("LISTEN_FDNAMES") }
        }
        return names.enumerated().map { index, name in
            InheritedSocket(descriptor: CInt(first + index), name: name)
        }
    }

    /// The first descriptor, after those of standard input, output and error.
    private static let first = 3
    /// The most sockets. A greater number is invalid.
    private static let limit: CInt = 4096

    private static func number(_ text: String) -> CInt? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return CInt(text)
    }

    #if canImport(Darwin)
        /// The sockets that launchd has opened for this process under a key of the `Sockets`
        /// dictionary in its property list. Each key can be used once.
        /// - Parameter name: the key in that dictionary.
        /// - Throws: ``InheritedSocketError/system(_:_:)`` if launchd does not know the key, or did
        ///   not start this process.
        public static func fromLaunchd(
            _ name: String
        ) throws(InheritedSocketError) -> [InheritedSocket] {
            do throws(SystemError) {
                return try Syscalls.launchdSockets(name).map {
                    Syscalls.closeOnExec($0)
                    return InheritedSocket(descriptor: $0, name: name)
                }
            } catch {
                throw .system(name, error)
            }
        }
    #endif
}

/// The reason why a service manager's sockets cannot be used.
public enum InheritedSocketError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The environment variable of this name is invalid.
    case malformed(String)
    /// The service manager has no socket of this name for the process.
    case system(String, SystemError)

    /// The variable or socket and the error, in one line.
    public var description: String {
        switch self {
        case .malformed(let name): "\(name): not what a service manager says"
        case .system(let name, let error): "socket \(name): \(error)"
        }
    }
}
