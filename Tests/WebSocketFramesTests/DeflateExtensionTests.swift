import HTTPParser
import Testing
import WebSocketFrames

@Suite("RFC 7692 section 7.1: the parameters of permessage-deflate")
struct DeflateExtensionTests {
    typealias Offer = DeflateExtension.Offer

    private static let plain = Offer(
        serverNoContextTakeover: false, clientNoContextTakeover: false, clientMaxWindowBits: nil)

    /// A field value and its number of valid offers; nil if it violates the grammar.
    static let offers: [(String, Int?)] = [
        ("permessage-deflate", 1), ("", 0), (" , ,", 0), ("x-webkit-deflate-frame", 0),
        ("foo, permessage-deflate; client_max_window_bits, permessage-deflate", 2),
        (#"permessage-deflate; server_max_window_bits="10""#, 1),
        ("permessage-deflate ; client_max_window_bits = 10", nil),
        ("permessage-deflate; server_max_window_bits=8", 1),
        ("permessage-deflate; server_max_window_bits=15", 1),
        ("permessage-deflate; server_max_window_bits=7", 0),
        ("permessage-deflate; server_max_window_bits=16", 0),
        ("permessage-deflate; server_max_window_bits=08", 0),
        ("permessage-deflate; server_max_window_bits=+9", 0),
        ("permessage-deflate; server_max_window_bits", 0),
        ("permessage-deflate; client_max_window_bits=", nil),
        ("permessage-deflate; client_max_window_bits=7", 0),
        ("permessage-deflate; server_no_context_takeover=1", 0),
        ("permessage-deflate; client_no_context_takeover; client_no_context_takeover", 0),
        ("permessage-deflate; unknown, permessage-deflate", 1),
        ("permessage-deflate;", nil), ("permessage-deflate; ;x", nil), ("permessage deflate", nil),
        (#"permessage-deflate; x="a b""#, nil), (#"permessage-deflate; x="a"#, nil), ("=", nil),
    ]

    @Test(
        "valid offers are read; invalid offers and other extensions are skipped", arguments: offers)
    func readsOffers(value: String, count: Int?) {
        #expect(DeflateExtension.offers(in: [value])?.count == count)
    }

    @Test("a written offer is read as the same offer")
    func offerRoundTrip() {
        for bits in [nil, 8, 10, 15] {
            for window in [nil, Offer.ClientWindow.any, .bits(8), .bits(15)] {
                let offer = Offer(
                    serverNoContextTakeover: bits == 8, clientNoContextTakeover: bits == 10,
                    serverMaxWindowBits: bits, clientMaxWindowBits: window)
                #expect(DeflateExtension.offers(in: [offer.fieldValue, "foo"]) == [offer])
            }
        }
    }

    @Test("the client accepts each response of the server, and both agree on the parameters")
    func answersAreAccepted() throws {
        let policies = [true, false].flatMap { keeps in
            [8, 12, 15].map {
                DeflateExtension.Policy(
                    serverKeepsContext: keeps, clientKeepsContext: keeps, serverWindowBits: $0,
                    clientWindowBits: 23 - $0)
            }
        }
        for policy in policies {
            for takeover in 0..<4 {
                for bits in [nil, 8, 11, 15] {
                    for window in [nil, Offer.ClientWindow.any, .bits(8), .bits(13)] {
                        let offer = Offer(
                            serverNoContextTakeover: takeover & 1 == 0,
                            clientNoContextTakeover: takeover & 2 == 0,
                            serverMaxWindowBits: bits, clientMaxWindowBits: window)
                        try check(offer, policy)
                    }
                }
            }
        }
    }

    private func check(_ offer: Offer, _ policy: DeflateExtension.Policy) throws {
        let server = try #require(DeflateExtension.accept([offer], policy: policy))
        let client = try DeflateExtension(
            answer: [server.fieldValue(answering: offer)], to: offer)
        #expect(client == server)
        #expect(
            server.serverWindowBits <= min(policy.serverWindowBits, offer.serverMaxWindowBits ?? 15)
        )
        #expect(!(server.serverKeepsContext && offer.serverNoContextTakeover))
        #expect(!(server.clientKeepsContext && offer.clientNoContextTakeover))
    }

    @Test("by default neither side keeps a context")
    func defaultAnswer() {
        let agreement = DeflateExtension.accept([Self.plain])
        #expect(
            agreement?.fieldValue
                == "permessage-deflate; server_no_context_takeover; client_no_context_takeover")
        #expect(DeflateExtension.accept([]) == nil)
    }

    static let refused: [(String, Offer?, WebSocketHandshakeError.Kind)] = [
        ("permessage-deflate", nil, .unofferedExtension),
        ("foo", plain, .unofferedExtension),
        ("permessage-deflate, permessage-deflate", plain, .unofferedExtension),
        ("permessage-deflate; foo", plain, .invalidExtensions),
        ("permessage-deflate;", plain, .invalidExtensions),
        ("permessage-deflate; client_max_window_bits=10", plain, .invalidExtensions),
        ("permessage-deflate; client_max_window_bits", Offer(), .invalidExtensions),
        ("permessage-deflate", Offer(), .invalidExtensions),
        (
            "permessage-deflate; server_no_context_takeover", Offer(serverMaxWindowBits: 10),
            .invalidExtensions
        ),
        (
            "permessage-deflate; server_no_context_takeover; server_max_window_bits=11",
            Offer(serverMaxWindowBits: 10), .invalidExtensions
        ),
        (
            "permessage-deflate; server_no_context_takeover; client_max_window_bits=11",
            Offer(clientMaxWindowBits: .bits(10)), .invalidExtensions
        ),
    ]

    @Test("a client refuses a response that does not match its offer", arguments: refused)
    func refusesAnswers(value: String, offer: Offer?, kind: WebSocketHandshakeError.Kind) {
        #expect(throws: WebSocketHandshakeError(kind)) {
            try DeflateExtension(answer: [value], to: offer)
        }
    }

    @Test("without a response of the server there is no compression")
    func noAnswer() throws {
        #expect(try DeflateExtension(answer: [], to: Offer()) == nil)
    }
}
