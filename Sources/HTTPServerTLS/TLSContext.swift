public import HTTPServerCore
package import ToolkitSystem

/// The certificates and settings with which servers use TLS (RFC 8446). Several endpoints and
/// several servers may share a context.
///
/// Certificates can be replaced while the servers run: new connections use the new ones, open
/// connections keep theirs.
///
/// Cryptography is done by OpenSSL. A program that loads OpenSSL providers or enables FIPS must do
/// so before it creates its first context; later changes have no effect.
public final class TLSContext: Sendable {
    /// The certificates in use.
    private struct Current: Sendable {
        var table: CertificateTable
        /// The stamps of the files, taken before the last successful load of all of them. If a file
        /// changes during that load, or before `reloadOnChanges` is called, its stamp differs.
        var stamps: [FileStamp?]
    }

    let configuration: TLSConfiguration
    private let keys: TicketKeys
    private let current: Locked<Current>
    /// The number of reloads. Each holds the lock while it reads, so that older certificates cannot
    /// replace newer ones.
    private let reloads = Locked(0)
    private let rooms = Locked<[ObjectIdentifier: TLSRoom]>([:])

    /// Loads the certificates and ticket keys.
    /// - Throws: the first error, with its file.
    public init(_ configuration: TLSConfiguration) throws(TLSError) {
        self.configuration = configuration
        keys = try TicketKeys(now: Syscalls.monotonic())
        let stamps = Self.stamps(of: configuration)
        let table = try CertificateTable(configuration, keys: keys)
        current = Locked(Current(table: table, stamps: stamps))
        try useTicketKeyFile()
    }

    /// Reads the files again. New connections use the new certificates and ticket keys.
    ///
    /// Do not call this on an event loop: it reads files, computes, and waits for a reload that is
    /// running.
    /// - Throws: the first error. If a certificate has an error, all certificates stay as they are;
    ///   if the file of ticket keys has one, the ticket keys do. Each of the two is loaded even if
    ///   the other has an error.
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

    /// The time at which the first of the certificates expires, in seconds since the epoch.
    public var expiry: Int64 { current.withLock { $0.table.expiry } }

    /// The stamps of the files, taken before the last successful load of all of them.
    var loadedStamps: [FileStamp?] { current.withLock { $0.stamps } }

    /// The paths of all files with certificates, keys, authorities and ticket keys.
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
            // Remove the rooms of stopped servers' loops, which have no connections.
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
