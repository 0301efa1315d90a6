import ArgumentParser

/// The arguments of `serve`, completed by variables of the environment: `HTTPKIT_` and the name of a
/// flag in capitals, with `_` for `-`.
enum ServeArguments {
    /// The names of flags that a variable turns on, or off where there is a `--no-` flag.
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
    /// The names of options that can be given several times; the variable has a value in each line.
    static let lists: Set = [
        "allow-host", "cors", "header", "origin", "proxy-protocol", "tls-certificate", "tls-key",
        "trusted-proxy", "user",
    ]

    /// A variable whose value means nothing.
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    static func variable(_ name: String) -> String {
        "HTTPKIT_" + name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    /// - Parameters:
    ///   - arguments: those of the program, its own name left out.
    ///   - environment: the value of a variable.
    /// - Returns: the arguments that the parser understands; flags of the command line win.
    static func complete(
        _ arguments: [String], _ environment: (String) -> String?
    ) throws(Fault) -> [String] {
        guard arguments.first == "serve" else { return arguments }
        let own = withOrigins(Array(arguments.dropFirst()))
        var given = names(in: own)
        if !given.isDisjoint(with: ["host", "port"]), !given.contains("unix-socket") {
            // A socket takes the place of host and port, which a flag has named.
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
            // CR LF is one character.
            return value.split { $0 == "\n" || $0 == "\r\n" }.map { "--\(name)=\($0)" }
        }
        switch value.lowercased() {
        case "1", "true", "yes", "on": return ["--\(name)"]
        case "0", "false", "no", "off": return reversible.contains(name) ? ["--no-\(name)"] : []
        default:
            throw Fault(description: "\(variable(name)) takes 1 or 0, got \(value)")
        }
    }

    /// The names of the flags in arguments.
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

    /// `--cors` may stand alone: then it means all origins.
    private static func withOrigins(_ arguments: [String]) -> [String] {
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        return arguments.enumerated().map { index, argument in
            guard argument == "--cors", index < end else { return argument }
            let next = index + 1 < end ? arguments[index + 1] : ""
            return next == "*" || next.contains("://") ? argument : "--cors=*"
        }
    }
}
