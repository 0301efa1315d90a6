extension DeflateExtension {
    /// Chooses among a client's offers.
    /// - Parameters:
    ///   - offers: the valid offers, the most wanted first; see ``offers(in:)``.
    ///   - policy: how the server wants its connections.
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

    /// The server's answer as `Sec-WebSocket-Extensions` carries it.
    public var fieldValue: String {
        var text = Self.name
        if !serverKeepsContext { text += "; server_no_context_takeover" }
        if !clientKeepsContext { text += "; client_no_context_takeover" }
        if serverWindowBits < 15 { text += "; server_max_window_bits=\(serverWindowBits)" }
        if clientWindowBits < 15 { text += "; client_max_window_bits=\(clientWindowBits)" }
        return text
    }

    /// The server's answer to one offer: with the limit that the offer asks for, also where it is
    /// 15: without it the offer counts as declined (section 7.1.2.1).
    public func fieldValue(answering offer: Offer) -> String {
        guard serverWindowBits == 15, offer.serverMaxWindowBits != nil else { return fieldValue }
        return fieldValue + "; server_max_window_bits=15"
    }

    /// A client's check of the server's answer.
    /// - Parameters:
    ///   - values: those of `Sec-WebSocket-Extensions` in the answer.
    ///   - offer: what the client offered, if anything.
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

    /// Whether the answer grants all that the offer asks for, and asks only for things that the
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
