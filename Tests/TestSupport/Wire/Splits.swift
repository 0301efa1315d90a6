/// A way to cut input that changes the parser's events.
public struct Disagreement: Sendable, CustomStringConvertible {
    /// The input.
    public var bytes: [UInt8]
    /// Where it was cut.
    public var cuts: [Int]
    /// The events of the whole.
    public var whole: [WireEvent]
    /// The events of the pieces.
    public var pieces: [WireEvent]

    /// The input, the cuts and both lists of events.
    public var description: String {
        """
        \(Escapes.text(bytes))
        cut at \(cuts.count > 8 ? "every byte" : "\(cuts)"):
        \(pieces.map(\.description).joined(separator: "\n"))
        but whole:
        \(whole.map(\.description).joined(separator: "\n"))
        """
    }
}

extension WireSetup {
    /// Inputs up to this length are also cut at each pair of places.
    public static var pairLimit: Int { 44 }

    /// Feeds the bytes one by one, cut in two at each place, and, when they are few, in three.
    /// Returns the first cuts whose events differ from those of the whole.
    public func disagreement(on bytes: [UInt8]) -> Disagreement? {
        let whole = events(bytes)
        if let found = disagreement(on: bytes, whole, cuts: Array(0...bytes.count)) { return found }
        // Long inputs are cut at one to two thousand places.
        let places = Array(stride(from: 1, to: bytes.count, by: max(1, bytes.count / 1_000)))
        for first in places {
            if let found = disagreement(on: bytes, whole, cuts: [first]) { return found }
            guard bytes.count <= Self.pairLimit else { continue }
            for second in places where second > first {
                let found = disagreement(on: bytes, whole, cuts: [first, second])
                if let found { return found }
            }
        }
        return nil
    }

    /// The same for one way to cut; `cuts` ascend.
    public func disagreement(
        on bytes: [UInt8], _ whole: [WireEvent], cuts: [Int]
    ) -> Disagreement? {
        var pieces: [ArraySlice<UInt8>] = []
        var start = 0
        for cut in cuts + [bytes.count] {
            pieces.append(bytes[start..<cut])
            start = cut
        }
        let split = events(pieces: pieces)
        guard split != whole else { return nil }
        return Disagreement(bytes: bytes, cuts: cuts, whole: whole, pieces: split)
    }
}
