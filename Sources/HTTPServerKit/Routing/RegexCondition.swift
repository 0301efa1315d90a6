internal import HTTPServerCore

/// Matches requests whose whole path matches a regular expression, and stores the groups as
/// parameters.
struct RegexCondition: RouteCondition {
    let expression: PathExpression

    func matches(_ path: RoutingPath?, _ request: inout Request) -> Bool {
        guard let text = path?.text(of: request), let captures = expression.match(text) else {
            return false
        }
        var parameters = PathParameters()
        parameters.captures = captures
        for (name, value) in zip(expression.groups, captures.dropFirst()) {
            if let name { parameters.set(name, value) }
        }
        request.parameters.add(parameters)
        return true
    }
}
