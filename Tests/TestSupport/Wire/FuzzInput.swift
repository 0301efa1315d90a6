public import HTTPParser

/// The input of the fuzz targets: three bytes choose how the rest is fed.
///
/// Bits 0 to 3 of the first are the leniencies, bit 4 selects small limits, bit 5 the end of the
/// input after the message; the other two bytes choose the cuts.
public struct FuzzInput: Sendable {
    /// How the message is fed.
    public var setup: WireSetup
    /// The message.
    public var message: [UInt8]
    /// Ascending places to cut the message at.
    public var cuts: [Int]

    /// Splits the input; `nil` when it is too short.
    public init?(_ bytes: some Collection<UInt8>, role: WireSetup.Role) {
        guard bytes.count >= 3 else { return nil }
        let head = Array(bytes.prefix(3))
        message = Array(bytes.dropFirst(3))
        setup = WireSetup(
            role, limits: head[0] & 16 == 0 ? .standard : Self.smallLimits,
            leniency: ParserLeniency(rawValue: head[0] & 15), closes: head[0] & 32 != 0)
        var random = SeededGenerator(seed: UInt64(head[1]) << 8 | UInt64(head[2]))
        let count = 1 + Int(head[1] & 7)
        let end = message.count
        cuts = (0..<count).map { _ in Int.random(in: 0...end, using: &random) }.sorted()
    }

    /// Limits that small inputs reach.
    public static var smallLimits: ParserLimits {
        var limits = ParserLimits()
        limits.startLineBytes = 40
        limits.fieldLineBytes = 60
        limits.fieldSectionBytes = 200
        limits.fieldCount = 6
        limits.contentBytes = 30
        limits.chunkExtensionBytes = 12
        limits.trailerBytes = 40
        limits.leadingEmptyLines = 2
        return limits
    }

    /// The events of the whole message, after a check that cutting does not change them.
    public func checkedEvents() -> [WireEvent] {
        let whole = setup.events(message)
        var ways = [cuts]
        if message.count <= 400 { ways.append(Array(0...message.count)) }
        for cuts in ways {
            if let found = setup.disagreement(on: message, whole, cuts: cuts) {
                fatalError("\(found)")
            }
        }
        return whole
    }

    /// Checks that the head parser reads the first head as the oracle does.
    public func checkHead(_ kind: HeadParser.Kind) {
        let difference = HeadComparison.difference(
            message, kind, limits: setup.limits, leniency: setup.leniency, bytewise: false)
        if let difference { fatalError(difference) }
    }
}
