import ArgumentParser

/// The arguments of `serve`, completed from environment variables. A variable's name is `HTTPKIT_`
/// and the name of a flag in capitals, with `_` for `-`.
enum ServeArguments {
    /// The names of flags without a value. A variable turns them on, or off if a `--no-` flag
    /// exists.
    static let switches: Set = [
        "access-log", "gzip", "no-listing", "qr", "read-only", "show-hidden", "spa",
        "tls-development", "webdav-sync",
    ]
    /// The switches that have a `--no-` flag.
    static let reversible: Set = ["gzip", "qr"]
    /// The names of options with one value.
    static let options: Set = [
        "acme-challenges", "auth", "cache-age", "echo", "forwarded-fields", "host", "hsts",
        "index", "log-level", "loops", "max-body", "port", "quota", "realm", "redirect-http",
        "tls-client-ca", "unix-socket", "unix-socket-mode", "uploader", "uploader-conflict",
        "user-file", "webdav", "webdav-locks",
    ]
    /// The names of options that can be given several times. The variable has one value per line.
    static let lists: Set = [
        "allow-host", "cors", "header", "origin", "proxy-protocol", "tls-certificate", "tls-key",
        "trusted-proxy", "user",
    ]

    /// A variable with an invalid value.
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    /// The name of the variable for a flag.
    static func variable(_ name: String) -> String {
        "HTTPKIT_" + name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    /// - Parameters:
    ///   - arguments: the program's arguments, without its own name.
    ///   - environment: returns the value of a variable.
    /// - Returns: the arguments for the parser. Flags on the command line override variables.
    static func complete(
        _ arguments: [String], _ environment: (String) -> String?
    ) throws(Fault) -> [String] {
        guard arguments.first == "serve" else { return arguments }
        let own = withOrigins(Array(arguments.dropFirst()))
        var given = names(in: own)
        if !given.isDisjoint(with: ["host", "port"]), !given.contains("unix-socket") {
            // A socket from a variable would replace the host and port from the command line.
            given.formUnion(["unix-socket", "unix-socket-mode"])
        }
        var added: [String] = []
        for name in options.union(lists).union(switches).sorted() where !given.contains(name) {
            guard let value = environment(variable(name)), !value.isEmpty else { continue }
            added += try flags(name, value)
        }
        return ["serve"] + added + own
    }

    private static func flags(_ name: String, _ value: String) throws(Fault) -> [String] {
        if options.contains(name) { return ["--\(name)=\(value)"] }
        if lists.contains(name) {
            // CR LF is a single Character.
            return value.split { $0 == "\n" || $0 == "\r\n" }.map { "--\(name)=\($0)" }
        }
        switch value.lowercased() {
        case "1", "true", "yes", "on": return ["--\(name)"]
        case "0", "false", "no", "off": return reversible.contains(name) ? ["--no-\(name)"] : []
        default:
            throw Fault(
                description: "\(variable(name)) takes 1/true/yes/on or 0/false/no/off, got \(value)"
            )
        }
    }

    /// The names of all flags in the arguments; for `--no-gzip` and its like, the name without
    /// `no-`.
    private static func names(in arguments: [String]) -> Set<String> {
        var names: Set<String> = []
        for argument in arguments.prefix(while: { $0 != "--" }) {
            if argument.hasPrefix("-p"), !argument.hasPrefix("--") { names.insert("port") }
            guard argument.hasPrefix("--") else { continue }
            let name = String(argument.dropFirst(2).prefix { $0 != "=" })
            let positive = name.hasPrefix("no-") ? String(name.dropFirst(3)) : name
            names.insert(reversible.contains(positive) ? positive : name)
        }
        return names
    }

    /// Gives `--cors` without a value the value `*`, which means all origins.
    private static func withOrigins(_ arguments: [String]) -> [String] {
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        return arguments.enumerated().map { index, argument in
            guard argument == "--cors", index < end else { return argument }
            let next = index + 1 < end ? arguments[index + 1] : ""
            return next == "*" || next.contains("://") ? argument : "--cors=*"
        }
    }
}
