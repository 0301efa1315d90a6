extension DeflateExtension {
    /// Chooses among a client's offers.
    /// - Parameters:
    ///   - offers: the valid offers, in order of preference; see ``offers(in:)``.
    ///   - policy: the server's preferences.
    /// - Returns: the agreement; nil without an offer.
    public static func accept(_ offers: [Offer], policy: Policy = Policy()) -> DeflateExtension? {
        offers.first.map { DeflateExtension(accepting: $0, policy) }
    }

    private init(accepting offer: Offer, _ policy: Policy) {
        self.init(
            serverKeepsContext: policy.serverKeepsContext && !offer.serverNoContextTakeover,
            clientKeepsContext: policy.clientKeepsContext && !offer.clientNoContextTakeover,
            serverWindowBits: min(policy.serverWindowBits, offer.serverMaxWindowBits ?? 15))
        // A client that does not name the parameter cannot limit its window (section 7.1.2.2).
        if let window = offer.clientMaxWindowBits {
            clientWindowBits = min(policy.clientWindowBits, window.bits)
        }
    }

    /// The server's answer, the value of `Sec-WebSocket-Extensions`.
    public var fieldValue: String {
        var text = Self.name
        if !serverKeepsContext { text += "; server_no_context_takeover" }
        if !clientKeepsContext { text += "; client_no_context_takeover" }
        if serverWindowBits < 15 { text += "; server_max_window_bits=\(serverWindowBits)" }
        if clientWindowBits < 15 { text += "; client_max_window_bits=\(clientWindowBits)" }
        return text
    }

    /// The server's answer to one offer. It repeats the window limit of the offer even if that is
    /// 15: without the limit the offer counts as declined (section 7.1.2.1).
    public func fieldValue(answering offer: Offer) -> String {
        guard serverWindowBits == 15, offer.serverMaxWindowBits != nil else { return fieldValue }
        return fieldValue + "; server_max_window_bits=15"
    }

    /// A client's check of the server's answer.
    /// - Parameters:
    ///   - values: the values of `Sec-WebSocket-Extensions` in the answer.
    ///   - offer: the client's offer; nil for none.
    /// - Returns: the agreement; nil when the server agreed to no extension.
    /// - Throws: `.invalidExtensions`, `.unofferedExtension`.
    public init?(
        answer values: [String], to offer: Offer?
    ) throws(WebSocketHandshakeError) {
        guard let elements = ExtensionElement.list(values) else {
            throw WebSocketHandshakeError(.invalidExtensions)
        }
        guard let element = elements.first else { return nil }
        guard let offer, elements.count == 1, element.name == Self.name else {
            throw WebSocketHandshakeError(.unofferedExtension)
        }
        guard let answer = DeflateParameters(element), Self.isAnswer(answer, to: offer) else {
            throw WebSocketHandshakeError(.invalidExtensions)
        }
        self.init(
            serverKeepsContext: !answer.serverNoContextTakeover,
            clientKeepsContext: !(answer.clientNoContextTakeover || offer.clientNoContextTakeover),
            serverWindowBits: answer.serverMaxWindowBits ?? 15,
            clientWindowBits: min(
                answer.clientMaxWindowBits ?? 15, offer.clientMaxWindowBits?.bits ?? 15))
    }

    /// Whether the answer grants everything that the offer requires, and requires only what the
    /// offer allows (sections 7.1.1 and 7.1.2).
    private static func isAnswer(_ answer: DeflateParameters, to offer: Offer) -> Bool {
        if offer.serverNoContextTakeover, !answer.serverNoContextTakeover { return false }
        if let most = offer.serverMaxWindowBits {
            guard let bits = answer.serverMaxWindowBits, bits <= most else { return false }
        }
        guard answer.hasClientWindow else { return true }
        guard let bits = answer.clientMaxWindowBits, let window = offer.clientMaxWindowBits else {
            return false
        }
        return bits <= window.bits
    }
}
