public import HTTPServerCore
package import ToolkitSystem

/// The certificates and settings by which servers speak TLS (RFC 8446). Several endpoints, and several
/// servers, may share one.
///
/// Certificates can be replaced while the servers run: new connections get the new ones, open ones
/// keep theirs.
///
/// Cryptography is OpenSSL's. A program that loads providers of it, or enables FIPS, does so before it
/// makes its first context: later choices do not count.
public final class TLSContext: Sendable {
    /// The certificates in use.
    private struct Current: Sendable {
        var table: CertificateTable
        /// The stamps of the files, taken before the last load that used all of them: a change
        /// during that load, or before `reloadOnChanges` is called, shows as other stamps.
        var stamps: [FileStamp?]
    }

    let configuration: TLSConfiguration
    private let keys: TicketKeys
    private let current: Locked<Current>
    /// Counts the reloads. Each holds the lock while it reads, so that older certificates cannot
    /// replace newer ones.
    private let reloads = Locked(0)
    private let rooms = Locked<[ObjectIdentifier: TLSRoom]>([:])

    /// Loads the certificates.
    /// - Throws: the first fault, with the file that has it.
    public init(_ configuration: TLSConfiguration) throws(TLSError) {
        self.configuration = configuration
        keys = try TicketKeys(now: Syscalls.monotonic())
        let stamps = Self.stamps(of: configuration)
        let table = try CertificateTable(configuration, keys: keys)
        current = Locked(Current(table: table, stamps: stamps))
        try useTicketKeyFile()
    }

    /// Reads the files again. New connections get what is in them now.
    ///
    /// It reads files and computes, and waits for another reload that goes on, so do not call it on
    /// an event loop.
    /// - Throws: the first fault. All certificates stay as they are when one of them has a fault,
    ///   and the ticket keys when their file has one; neither holds up the other.
    public func reload() throws(TLSError) {
        let result: Result<Void, TLSError> = reloads.withLock { count in
            count += 1
            do throws(TLSError) {
                try readAgain()
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    private func readAgain() throws(TLSError) {
        let stamps = Self.stamps(of: configuration)
        var fault: TLSError?
        do throws(TLSError) {
            let table = try CertificateTable(configuration, keys: keys)
            current.withLock { $0.table = table }
        } catch {
            fault = error
        }
        do throws(TLSError) {
            try useTicketKeyFile()
        } catch {
            fault = fault ?? error
        }
        if let fault { throw fault }
        current.withLock { $0.stamps = stamps }
    }

    private func useTicketKeyFile() throws(TLSError) {
        guard let path = configuration.ticketKeyFile else { return }
        try keys.use(try TLSMaterial.file(path).read(), from: path)
    }

    /// The seconds since the epoch at which the first of the certificates expires.
    public var expiry: Int64 { current.withLock { $0.table.expiry } }

    /// The stamps of the files, taken before the last load that used all of them.
    var loadedStamps: [FileStamp?] { current.withLock { $0.stamps } }

    /// The files that certificates, keys and authorities come from.
    static func files(of configuration: TLSConfiguration) -> [String] {
        var materials = configuration.certificates.flatMap { [$0.chain, $0.key] }
        switch configuration.clientAuthentication {
        case .none: break
        case .optional(let authorities), .required(let authorities): materials.append(authorities)
        }
        let paths = materials.compactMap { material in
            if case .file(let path) = material { path } else { nil }
        }
        return paths + (configuration.ticketKeyFile.map { [$0] } ?? [])
    }

    private func room(of owner: any TransportOwner) -> TLSRoom {
        rooms.withLock { rooms in
            if let room = rooms[owner.loopIdentity] { return room }
            // Loops of servers that were stopped have no connections.
            if rooms.count >= 16 { rooms = rooms.filter { $0.value.isUsed } }
            let room = TLSRoom()
            rooms[owner.loopIdentity] = room
            return room
        }
    }
}

extension TLSContext: TransportLayer {
    package var isSecure: Bool { true }

    package func transport(
        over transport: any Transport, for owner: any TransportOwner
    ) -> any Transport {
        keys.rotate(now: Syscalls.monotonic())
        let table = current.withLock { $0.table }
        return TLSTransport(
            over: transport, owner: owner, table: table, room: room(of: owner),
            redirects: configuration.plainRequests == .redirect)
    }
}

extension ServerConfiguration.Endpoint {
    /// The same endpoint, with its connections encrypted.
    public func secured(by context: TLSContext) -> Self {
        var endpoint = self
        endpoint.layers.append(context)
        return endpoint
    }
}

extension ServerConfiguration {
    /// Encrypts the connections of all endpoints.
    public mutating func secure(by context: TLSContext) {
        endpoints = endpoints.map { $0.secured(by: context) }
    }
}
