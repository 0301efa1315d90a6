extension DeflateExtension {
    /// A client's offer of permessage-deflate.
    ///
    /// RFC 7692, section 7.1.
    public struct Offer: Hashable, Sendable {
        /// Whether the server is asked to keep no context between messages.
        public var serverNoContextTakeover: Bool
        /// Whether the client will keep no context between messages.
        public var clientNoContextTakeover: Bool
        /// The largest window that the server may use, as a power of 2, 8...15.
        public var serverMaxWindowBits: Int?
        /// Whether the server may limit the client's window, and the largest window that the client
        /// uses; nil if the server may not.
        public var clientMaxWindowBits: ClientWindow?

        /// The parameter `client_max_window_bits` of an offer.
        public enum ClientWindow: Hashable, Sendable {
            /// Without a value: the server may limit the window.
            case any
            /// The largest window that the client uses, as a power of 2, 8...15.
            case bits(Int)

            var bits: Int {
                switch self {
                case .any: DeflateExtension.windowBits.upperBound
                case .bits(let bits): bits
                }
            }
        }

        /// Creates an offer: by default without contexts, and with windows chosen by the server.
        public init(
            serverNoContextTakeover: Bool = true, clientNoContextTakeover: Bool = true,
            serverMaxWindowBits: Int? = nil, clientMaxWindowBits: ClientWindow? = .any
        ) {
            precondition(
                windowBits ~= serverMaxWindowBits ?? windowBits.upperBound
                    && windowBits ~= clientMaxWindowBits?.bits ?? windowBits.upperBound,
                "a window has 8 to 15 bits")
            self.serverNoContextTakeover = serverNoContextTakeover
            self.clientNoContextTakeover = clientNoContextTakeover
            self.serverMaxWindowBits = serverMaxWindowBits
            self.clientMaxWindowBits = clientMaxWindowBits
        }
    }

    /// The valid offers of permessage-deflate in the values of `Sec-WebSocket-Extensions`, in order
    /// of preference.
    ///
    /// Other extensions are skipped, as are offers with an unknown, repeated or invalid parameter,
    /// which are declined (RFC 7692 section 7.1).
    /// - Returns: nil if the field violates its grammar, which fails the handshake.
    public static func offers(in values: [String]) -> [Offer]? {
        ExtensionElement.list(values)?.compactMap { $0.name == name ? Offer($0) : nil }
    }
}

extension DeflateExtension.Offer {
    /// The offer, the value of `Sec-WebSocket-Extensions`.
    public var fieldValue: String {
        var text = DeflateExtension.name
        if serverNoContextTakeover { text += "; server_no_context_takeover" }
        if clientNoContextTakeover { text += "; client_no_context_takeover" }
        if let bits = serverMaxWindowBits { text += "; server_max_window_bits=\(bits)" }
        switch clientMaxWindowBits {
        case nil: break
        case .any: text += "; client_max_window_bits"
        case .bits(let bits): text += "; client_max_window_bits=\(bits)"
        }
        return text
    }

    /// Nil for parameters that are invalid in an offer.
    init?(_ element: ExtensionElement) {
        self.init(
            serverNoContextTakeover: false, clientNoContextTakeover: false,
            clientMaxWindowBits: nil)
        guard let parameters = DeflateParameters(element) else { return nil }
        serverNoContextTakeover = parameters.serverNoContextTakeover
        clientNoContextTakeover = parameters.clientNoContextTakeover
        serverMaxWindowBits = parameters.serverMaxWindowBits
        if parameters.hasClientWindow {
            clientMaxWindowBits = parameters.clientMaxWindowBits.map { .bits($0) } ?? .any
        }
    }
}

/// The parameters of an offer or of an answer, each at most once and with a valid value.
struct DeflateParameters {
    var serverNoContextTakeover = false
    var clientNoContextTakeover = false
    var serverMaxWindowBits: Int?
    var clientMaxWindowBits: Int?
    /// Whether `client_max_window_bits` is present, with or without a value.
    var hasClientWindow = false

    init?(_ element: ExtensionElement) {
        guard Set(element.parameters.map(\.name)).count == element.parameters.count else {
            return nil
        }
        for parameter in element.parameters {
            guard take(parameter) else { return nil }
        }
    }

    private mutating func take(_ parameter: ExtensionElement.Parameter) -> Bool {
        switch parameter.name {
        case "server_no_context_takeover":
            serverNoContextTakeover = true
            return parameter.value == nil
        case "client_no_context_takeover":
            clientNoContextTakeover = true
            return parameter.value == nil
        case "server_max_window_bits":
            serverMaxWindowBits = Self.bits(parameter.value)
            return serverMaxWindowBits != nil
        case "client_max_window_bits":
            hasClientWindow = true
            clientMaxWindowBits = Self.bits(parameter.value)
            return parameter.value == nil || clientMaxWindowBits != nil
        default: return false
        }
    }

    /// 8 to 15, without leading zeros (section 7.1.2).
    private static func bits(_ text: String?) -> Int? {
        DeflateExtension.windowBits.first { String($0) == text }
    }
}
