internal import ToolkitSystem

/// The users of hosts in a `.netrc` file, which curl and ftp(1) also read.
struct Netrc {
    /// A user of a host.
    struct Entry: Equatable {
        /// `nil` for the entry `default`, which matches all hosts.
        var machine: String?
        var login: String?
        var password: String?
    }

    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    /// The longest file that is read.
    private static let byteLimit = 1 << 20

    private(set) var entries: [Entry] = []

    /// Reads a file; a missing file has no users.
    init(file path: String) throws {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try Syscalls.readFile(path, upTo: Self.byteLimit)
        } catch {
            guard error.isMissing else { throw Fault(description: "\(path): \(error.description)") }
            bytes = []
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Fault(description: "\(path): the file is not UTF-8")
        }
        do {
            try self.init(text)
        } catch let fault as Fault {
            throw Fault(description: "\(path): \(fault)")
        }
    }

    /// Reads entries, in the order of the file.
    init(_ text: String) throws {
        var scanner = NetrcScanner(text)
        while let word = try scanner.next() {
            switch word {
            case "machine": entries.append(Entry(machine: try scanner.value(of: word)))
            case "default": entries.append(Entry())
            case "login": try set(\.login, try scanner.value(of: word))
            case "password": try set(\.password, try scanner.value(of: word))
            case "account": _ = try scanner.value(of: word)
            case "macdef": scanner.skipMacro()
            default: throw Fault(description: "expected machine, login or password, got \(word)")
            }
        }
    }

    private mutating func set(_ part: WritableKeyPath<Entry, String?>, _ value: String) throws {
        guard let last = entries.indices.last else {
            throw Fault(description: "login or password before the first machine")
        }
        entries[last][keyPath: part] = value
    }

    /// The first user of a host, or the one with a name.
    /// - Parameters:
    ///   - host: an IPv6 address without brackets.
    ///   - login: the requested name; `nil` for any.
    func user(of host: String, named login: String? = nil) -> (name: String, password: String)? {
        for entry in entries {
            guard entry.machine.map({ $0.lowercased() == host.lowercased() }) ?? true else {
                continue
            }
            guard let name = entry.login ?? login, login == nil || login == name else { continue }
            return (name, entry.password ?? "")
        }
        return nil
    }
}

/// The words of the file, separated by white space or in quotes. In quotes, a backslash precedes a
/// quote, a backslash, or n, r and t for control characters.
private struct NetrcScanner {
    private var rest: Substring

    init(_ text: String) {
        rest = text[...]
    }

    mutating func next() throws -> String? {
        skipBlanks()
        while rest.first == "#" {
            rest = rest.drop { !$0.isNewline }
            skipBlanks()
        }
        guard let first = rest.first else { return nil }
        if first == "\"" { return try quoted() }
        let word = rest.prefix { !$0.isWhitespace }
        rest = rest.dropFirst(word.count)
        return String(word)
    }

    mutating func value(of name: String) throws -> String {
        guard let value = try next() else {
            throw Netrc.Fault(description: "\(name) without a value")
        }
        return value
    }

    /// Skips a macro, which ends before an empty line.
    mutating func skipMacro() {
        while !rest.isEmpty {
            let line = rest.prefix { !$0.isNewline }
            rest = rest.dropFirst(line.count).dropFirst()
            if rest.first?.isNewline == true { return }
        }
    }

    private mutating func skipBlanks() { rest = rest.drop { $0.isWhitespace } }

    private mutating func quoted() throws -> String {
        rest.removeFirst()
        var word = ""
        while let character = rest.popFirst() {
            if character == "\"" { return word }
            guard character == "\\", let escaped = rest.popFirst() else {
                word.append(character)
                continue
            }
            switch escaped {
            case "n": word.append("\n")
            case "r": word.append("\r")
            case "t": word.append("\t")
            default: word.append(escaped)
            }
        }
        throw Netrc.Fault(description: "a quote without an end")
    }
}
