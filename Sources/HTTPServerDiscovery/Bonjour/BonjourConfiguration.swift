/// The announcement of a server in the local network by DNS-SD (RFC 6763).
public struct BonjourConfiguration: Hashable, Sendable {
    /// The name that users see, up to 63 bytes of UTF-8; empty for the name of this machine. If
    /// another service of the type has the name, a number is appended.
    public var name = ""
    /// The type of the service: `_`, a name of RFC 6335 section 5.1, and `._tcp`.
    public var type = "_http._tcp"
    /// Narrower types by which the service can be found, such as `_printer` (RFC 6763 section 7.1).
    public var subtypes: [String] = []
    /// The domain; empty for the one that the system prefers, which is `local.`
    public var domain = ""
    /// Attributes of the service. Browsers of web pages use `path`, the key of `_http._tcp` for the
    /// first page.
    public var record = TXTRecord()
    /// The name of the only interface on which the service is announced; `nil` for all.
    public var interface: String?

    /// Creates a configuration.
    /// - Parameters:
    ///   - name: the name that users see; empty for the name of this machine.
    ///   - type: the type of the service.
    ///   - record: the attributes of the service.
    public init(
        name: String = "", type: String = "_http._tcp", record: TXTRecord = TXTRecord()
    ) {
        self.name = name
        self.type = type
        self.record = record
    }

    func validate() throws(BonjourError) {
        guard Self.isLabel(name) || name.isEmpty else { throw .invalidName(name) }
        guard Self.isType(type) else { throw .invalidType(type) }
        for subtype in subtypes where !Self.isSubtype(subtype) { throw .invalidType(subtype) }
        guard domain.utf8.count <= 255, domain.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
        else { throw .invalidDomain(domain) }
    }

    /// The type and its subtypes, in the form of the system's library.
    var registeredType: String { ([type] + subtypes).joined(separator: ",") }

    /// RFC 6763 section 4.1.1.
    private static func isLabel(_ text: String) -> Bool {
        (1...63).contains(text.utf8.count) && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }

    /// In the library's list, commas separate subtypes and dots separate labels.
    private static func isSubtype(_ text: String) -> Bool {
        isLabel(text) && !text.utf8.contains { $0 == 0x2C || $0 == 0x2E || $0 == 0x5C }
    }

    /// RFC 6335 section 5.1, RFC 6763 section 7: up to 15 letters, digits and single hyphens
    /// between them, and at least one letter.
    private static func isType(_ text: String) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count == 2, labels[1] == "_tcp", labels[0].hasPrefix("_") else {
            return false
        }
        let name = Array(labels[0].utf8.dropFirst())
        let isLetter = { (byte: UInt8) in (0x61...0x7A).contains(byte | 0x20) }
        let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) }
        guard (1...15).contains(name.count), name.contains(where: isLetter),
            name.allSatisfy({ isLetter($0) || isDigit($0) || $0 == 0x2D }),
            name.first != 0x2D, name.last != 0x2D
        else { return false }
        return !zip(name, name.dropFirst()).contains { $0 == 0x2D && $1 == 0x2D }
    }
}

/// A service as it is announced in the network.
public struct BonjourService: Hashable, Sendable {
    /// The name, which may differ from the configured one.
    public var name: String
    /// The type, such as `_http._tcp`.
    public var type: String
    /// The domain, such as `local`.
    public var domain: String
    /// The name of this machine in that domain, such as `desk.local`; `nil` until the system has
    /// reported it.
    public var host: String?
    /// The port.
    public var port: UInt16

    package init(
        name: String, type: String, domain: String, host: String? = nil, port: UInt16
    ) {
        self.name = name
        self.type = type
        self.domain = domain
        self.host = host
        self.port = port
    }

    /// The URL of the server by the machine's name, with `https` for the type `_https._tcp`; `nil`
    /// until the name is known. It changes with the machine's name.
    public var url: String? {
        let isSecure = type.hasPrefix("_https.")
        return host.map { host in
            let isUsual = port == (isSecure ? 443 : 80)
            return "\(isSecure ? "https" : "http")://\(host)\(isUsual ? "" : ":\(port)")/"
        }
    }
}

/// A change in the state of an announcement.
public enum BonjourEvent: Hashable, Sendable {
    /// The service is announced in the network, under this name.
    case registered(BonjourService)
    /// The name had to change while the service was announced; the second value is the old name.
    case renamed(BonjourService, from: String)
    /// The machine's name became known or has changed, and with it the URL.
    case resolved(BonjourService)
    /// The service is not announced, or no longer. The announcement is retried until `stop`.
    case failed(BonjourError)
    /// The announcement was withdrawn.
    case stopped
}

/// The reason why a service cannot be announced.
public enum BonjourError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name is longer than 63 bytes or has control characters.
    case invalidName(String)
    /// The type or subtype does not have the form that RFC 6763 section 7 requires.
    case invalidType(String)
    /// The domain is longer than 255 bytes or has control characters.
    case invalidDomain(String)
    /// The machine has no network interface of this name.
    case noSuchInterface(String)
    /// The system's service for DNS-SD does not run: mDNSResponder on Apple systems, avahi-daemon
    /// on Linux.
    case unavailable
    /// Another service has the name, and the system has not found a free one.
    case nameTaken
    /// The user or the system does not let the program use the local network, or its
    /// Info.plist lacks the keys for it (`Docs/Platforms.md`).
    case notPermitted
    /// Another error of the system's library, by its number in `dns_sd.h`.
    case system(call: String, code: Int32)

    /// The error in one line.
    public var description: String {
        switch self {
        case .invalidName(let name): "\"\(name)\" cannot be the name of a service"
        case .invalidType(let type): "\"\(type)\" cannot be the type of a service"
        case .invalidDomain(let domain): "\"\(domain)\" is no domain"
        case .noSuchInterface(let name): "\(name): no such network interface"
        case .unavailable: "the system's service for DNS-SD does not run"
        case .nameTaken: "another service has this name"
        case .notPermitted: "the program may not use the local network"
        case .system(let call, let code): "\(call): DNS-SD error \(code)"
        }
    }
}
