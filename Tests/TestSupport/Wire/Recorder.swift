public import HTTPParser

/// Who speaks, what the parser is told beforehand, and whether the speaker closes in the end.
public struct WireSetup: Sendable {
    /// Whose bytes they are.
    public enum Role: Sendable, Equatable {
        /// A client's.
        case request
        /// A server's; with methods only so many responses are expected.
        case response(to: [HTTPMethod]?)
    }

    /// Whose bytes they are.
    public var role: Role
    /// What the parser accepts at the most.
    public var limits: ParserLimits
    /// What the parser forgives.
    public var leniency: ParserLeniency
    /// Whether the input ends after the bytes.
    public var closes: Bool

    /// Creates a setup.
    public init(
        _ role: Role = .request, limits: ParserLimits = .standard, leniency: ParserLeniency = [],
        closes: Bool = false
    ) {
        self.role = role
        self.limits = limits
        self.leniency = leniency
        self.closes = closes
    }

    /// What the parser says to all bytes at once.
    public func events(_ bytes: [UInt8]) -> [WireEvent] {
        events(pieces: [bytes[...]])
    }

    /// What the parser says to the bytes in pieces; it is asked for events after each.
    public func events(pieces: some Sequence<ArraySlice<UInt8>>) -> [WireEvent] {
        switch role {
        case .request: requestEvents(pieces)
        case .response(let methods): responseEvents(pieces, to: methods)
        }
    }

    private func requestEvents(_ pieces: some Sequence<ArraySlice<UInt8>>) -> [WireEvent] {
        var events: [WireEvent] = []
        var parser = RequestParser(limits: limits, leniency: leniency)
        do throws(HTTPParseError) {
            for piece in pieces {
                parser.append(piece.span)
                while let event = try parser.next() { events.record(event) }
            }
            if closes { try parser.finish() }
        } catch {
            events.append(.failure(error))
        }
        if let reason = parser.stopReason {
            events.append(.stop(reason, rest: parser.takeRest()))
        }
        return events
    }

    private func responseEvents(
        _ pieces: some Sequence<ArraySlice<UInt8>>, to methods: [HTTPMethod]?
    ) -> [WireEvent] {
        var events: [WireEvent] = []
        var parser = ResponseParser(limits: limits, leniency: leniency)
        for method in methods ?? [] { parser.expect(method) }
        do throws(HTTPParseError) {
            for piece in pieces {
                parser.append(piece.span)
                while let event = try parser.next() { events.record(event) }
            }
            if closes {
                try parser.finish()
                while let event = try parser.next() { events.record(event) }
            }
        } catch {
            events.append(.failure(error))
        }
        if let reason = parser.stopReason {
            events.append(.stop(reason, rest: parser.takeRest()))
        }
        return events
    }
}
