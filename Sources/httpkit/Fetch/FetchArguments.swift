/// Arguments of `fetch` as curl accepts them: a value may directly follow the letter of its flag,
/// even if it contains an equals sign, as in `-Fname=@file`.
enum FetchArguments {
    /// The letters of flags without a value.
    static let switches: Set<Character> = ["I", "L", "O", "S", "f", "i", "k", "n", "s", "v"]
    /// The letters of flags with a value.
    static let options: Set<Character> = [
        "A", "F", "H", "T", "X", "b", "c", "d", "m", "o", "r", "u", "x",
    ]
    /// The names of flags with a value.
    static let names: Set = [
        "cacert", "connect-to", "cookie", "cookie-jar", "data", "form", "header", "limit-rate",
        "max-redirects", "max-time", "netrc-file", "output", "proxy", "range", "request", "retry",
        "timeout", "upload-file", "user", "user-agent",
    ]

    /// - Parameter arguments: the arguments of the program, without its name.
    static func complete(_ arguments: [String]) -> [String] {
        guard arguments.first == "fetch" else { return arguments }
        var completed: [String] = []
        var isValue = false
        var isOver = false
        for argument in arguments {
            if argument == "--", !isValue { isOver = true }
            guard !isValue, !isOver, let split = parts(argument) else {
                isValue =
                    !isValue && !isOver && names.contains(String(argument.dropFirst(2)))
                    && argument.hasPrefix("--")
                completed.append(argument)
                continue
            }
            completed += split
            isValue = split.count == 1 && options.contains(split[0].last ?? " ")
        }
        return completed
    }

    /// Flags of one letter, split from a value that directly follows them; `nil` for any other
    /// argument.
    private static func parts(_ argument: String) -> [String]? {
        guard argument.hasPrefix("-"), argument.count > 1 else { return nil }
        for index in argument.indices.dropFirst() {
            if switches.contains(argument[index]) { continue }
            guard options.contains(argument[index]) else { return nil }
            let end = argument.index(after: index)
            let value = String(argument[end...])
            return value.isEmpty ? [argument] : [String(argument[..<end]), value]
        }
        return [argument]
    }
}
