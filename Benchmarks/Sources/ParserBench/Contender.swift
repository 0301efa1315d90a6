/// One parser under test. `measure` is generic over it, so that no call goes through a witness
/// table in the measured loop.
protocol Contender: ~Copyable {
    /// Brings requests into the form this parser is fed with; done once.
    init(_ requests: [[UInt8]])

    /// Parses one of the requests; whether it was taken as a whole request.
    mutating func parse(_ index: Int) -> Bool
}

/// Nanoseconds per request over a number of parses in rotation; nil when one is refused.
func measure<C: Contender & ~Copyable>(
    _ type: C.Type, _ requests: [[UInt8]], iterations: Int
) -> Double? {
    var contender = C(requests)
    var next = 0
    let start = ContinuousClock.now
    for _ in 0..<iterations {
        guard contender.parse(next) else { return nil }
        next = next + 1 == requests.count ? 0 : next + 1
    }
    let duration = (ContinuousClock.now - start).components
    let nanoseconds = Double(duration.seconds) * 1e9 + Double(duration.attoseconds) / 1e9
    return nanoseconds / Double(iterations)
}
