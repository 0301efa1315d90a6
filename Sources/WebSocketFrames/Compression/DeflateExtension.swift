/// The parameters of permessage-deflate that both sides agreed on.
///
/// RFC 7692, section 7.1.
public struct DeflateExtension: Hashable, Sendable {
    /// Whether the server's messages may refer to the content of its earlier messages.
    public var serverKeepsContext: Bool
    /// Whether the client's messages may refer to the content of its earlier messages.
    public var clientKeepsContext: Bool
    /// The size of the server's window as a power of 2, 8...15.
    public var serverWindowBits: Int {
        get { Int(serverBits) }
        set { serverBits = Self.checked(newValue) }
    }
    /// The size of the client's window as a power of 2, 8...15.
    public var clientWindowBits: Int {
        get { Int(clientBits) }
        set { clientBits = Self.checked(newValue) }
    }

    // As small as possible, because each connection stores them.
    private var serverBits: UInt8
    private var clientBits: UInt8

    /// The name of the extension.
    public static var name: String { "permessage-deflate" }

    /// Creates parameters.
    public init(
        serverKeepsContext: Bool = false, clientKeepsContext: Bool = false,
        serverWindowBits: Int = 15, clientWindowBits: Int = 15
    ) {
        self.serverKeepsContext = serverKeepsContext
        self.clientKeepsContext = clientKeepsContext
        serverBits = Self.checked(serverWindowBits)
        clientBits = Self.checked(clientWindowBits)
    }

    private static func checked(_ bits: Int) -> UInt8 {
        precondition(windowBits ~= bits, "a window has 8 to 15 bits")
        return UInt8(bits)
    }

    static var windowBits: ClosedRange<Int> { 8...15 }

    /// Whether the messages that this side sends may refer to earlier ones.
    public func keepsContext(of role: WebSocketRole) -> Bool {
        role == .server ? serverKeepsContext : clientKeepsContext
    }

    /// The window of the messages that this side sends.
    public func windowBits(of role: WebSocketRole) -> Int {
        role == .server ? serverWindowBits : clientWindowBits
    }

    /// The server's preferences for answering offers.
    ///
    /// By default neither side keeps a context, so memory for compression is needed only while a
    /// message is compressed or decompressed.
    public struct Policy: Hashable, Sendable {
        /// Whether the server's messages refer to earlier ones if the client allows it.
        public var serverKeepsContext: Bool
        /// Whether the client's messages may refer to earlier ones.
        public var clientKeepsContext: Bool
        /// The largest window of the server's messages, as a power of 2, 8...15; other values trap.
        public var serverWindowBits: Int { didSet { checkWindows() } }
        /// The largest window of a client that accepts a limit, as a power of 2, 8...15; other
        /// values trap.
        public var clientWindowBits: Int { didSet { checkWindows() } }

        /// Creates a policy.
        public init(
            serverKeepsContext: Bool = false, clientKeepsContext: Bool = false,
            serverWindowBits: Int = 15, clientWindowBits: Int = 15
        ) {
            self.serverKeepsContext = serverKeepsContext
            self.clientKeepsContext = clientKeepsContext
            self.serverWindowBits = serverWindowBits
            self.clientWindowBits = clientWindowBits
            checkWindows()
        }

        private func checkWindows() {
            precondition(windowBits ~= serverWindowBits, "a window has 8 to 15 bits")
            precondition(windowBits ~= clientWindowBits, "a window has 8 to 15 bits")
        }
    }
}
