internal import HTTPCodecs
internal import HTTPParser
internal import Synchronization

/// A regular expression that has to match the whole path.
///
/// A regular expression may hold closures that are not safe to run at the same time, so it is used
/// by one request after the other.
final class RegexCondition: RouteCondition {
    private let regex: Mutex<Regex<AnyRegexOutput>>

    init<Output>(_ regex: sending Regex<Output>) {
        self.regex = Mutex(Regex<AnyRegexOutput>(regex))
    }

    func matches(_ path: RoutingPath?, _ request: inout Request) -> Bool {
        guard let text = path?.text(of: request) else { return false }
        let found = regex.withLock { regex -> PathParameters? in
            guard let match = try? regex.wholeMatch(in: text) else { return nil }
            var parameters = PathParameters()
            for group in match.output {
                let value = group.substring.map(String.init)
                parameters.captures.append(value)
                if let name = group.name { parameters.set(name, value) }
            }
            return parameters
        }
        guard let found else { return false }
        request.parameters.add(found)
        return true
    }
}
