public import HTTPParser

/// How bytes are parsed: the role of their sender, limits, leniency, and whether the input ends.
public struct WireSetup: Sendable {
    /// The sender of the bytes.
    public enum Role: Sendable, Equatable {
        /// A client.
        case request
        /// A server; with methods, one response to each is expected.
        case response(to: [HTTPMethod]?)
    }

    /// The sender of the bytes.
    public var role: Role
    /// The limits of the parser.
    public var limits: ParserLimits
    /// The leniency of the parser.
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

    /// The parser's events for all bytes at once.
    public func events(_ bytes: [UInt8]) -> [WireEvent] {
        events(pieces: [bytes[...]])
    }

    /// The parser's events for the bytes in pieces; the events are read after each piece.
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
