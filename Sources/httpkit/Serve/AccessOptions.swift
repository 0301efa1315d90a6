import ArgumentParser
import HTTPParser
internal import HTTPServerAuthentication
import HTTPServerCore
internal import HTTPServerKit
internal import ToolkitSystem

/// Access to the served files.
struct AccessOptions: ParsableArguments {
    enum Scheme: String, ExpressibleByArgument, CaseIterable { case none, basic, digest }

    @Option(
        help: ArgumentHelp(
            "Access: all clients (none), or users by Basic or Digest.",
            discussion: """
                Basic sends passwords in clear text: use it only with TLS or on this machine. \
                Digest offers SHA-256, and MD5 for clients that support nothing else.
                """))
    var auth = Scheme.none

    @Option(
        help: ArgumentHelp(
            "A user with access; can be given several times.",
            discussion: """
                Other users of this machine can see the arguments of programs: prefer --user-file, \
                or the environment variable HTTPKIT_USERS, which has one name:password per line.
                """,
            valueName: "name:password"))
    var user: [String] = []

    @Option(
        help: ArgumentHelp(
            "A file of users with access, one name:password per line.",
            valueName: "file"))
    var userFile: String?

    @Option(
        help: ArgumentHelp(
            "The realm that browsers show in the login dialog; by default the name of the server.",
            valueName: "text"))
    var realm: String?

    @Option(
        help: ArgumentHelp(
            "A name of this server; can be given several times.",
            discussion: """
                Requests for other hosts are refused, because a page elsewhere could point its own \
                name to this server. Without --webdav and --uploader this applies only if the \
                server listens at an address that is not public. Addresses, localhost and this \
                machine's name, alone and with .local, are always allowed; *.example.org \
                allows all names below example.org.
                """,
            valueName: "name"))
    var allowHost: [String] = []

    /// The process has the passwords in clear text, so a stolen hash would reveal nothing new: few
    /// rounds make a quick start.
    private static let rounds = 10_000

    func validate() throws {
        guard auth != .none else {
            if !user.isEmpty { throw ValidationError("--user needs --auth basic or digest") }
            if userFile != nil {
                throw ValidationError("--user-file needs --auth basic or digest")
            }
            if realm != nil { throw ValidationError("--realm needs --auth basic or digest") }
            // Without this the folder would be open to everybody although passwords are set.
            if !Self.environmentUsers.isEmpty {
                throw ValidationError("\(Self.variable) needs --auth basic or digest")
            }
            return
        }
        if user.isEmpty, userFile == nil, Self.environmentUsers.isEmpty {
            throw ValidationError(
                "--auth \(auth.rawValue) needs a --user, a --user-file or \(Self.variable)")
        }
        if let realm, realm.isEmpty || realm.utf8.contains(where: Self.isControl) {
            throw ValidationError("--realm takes a text without control characters")
        }
        var known: Set<String> = []
        for account in user {
            if let fault = Self.fault(of: account, "--user", &known) {
                throw ValidationError(fault)
            }
        }
    }

    /// The reason why an account is invalid; `nil` for a valid one.
    private static func fault(
        of account: String, _ source: String, _ known: inout Set<String>
    ) -> String? {
        guard let (name, password) = parts(account), !name.isEmpty else {
            return "\(source) takes NAME:PASSWORD"
        }
        guard !account.utf8.contains(where: isControl) else {
            return "\(source) takes NAME:PASSWORD without control characters"
        }
        if password.isEmpty { return "\(source) \(name): the password is empty" }
        return known.insert(name).inserted ? nil : "\(source) names \(name) twice"
    }

    private static let variable = "HTTPKIT_USERS"
    /// The longest file of users, in bytes.
    private static let fileLimit = 1 << 20

    /// An account and its source.
    private typealias Line = (source: String, account: String)

    private static var environmentUsers: [Line] {
        lines(Array((Syscalls.environment(variable) ?? "").utf8), variable)
    }

    /// The accounts of all sources.
    private func allUsers() -> [String] {
        var known = Set(user.compactMap { Self.parts($0)?.name })
        var all = user
        for (source, account) in Self.environmentUsers + fileUsers() {
            if let fault = Self.fault(of: account, source, &known) { fail(fault) }
            all.append(account)
        }
        return all
    }

    private func fileUsers() -> [Line] {
        guard let userFile else { return [] }
        do throws(SystemError) {
            let users = Self.lines(
                try Syscalls.readFile(userFile, upTo: Self.fileLimit), "--user-file \(userFile)")
            if users.isEmpty { fail("--user-file \(userFile): the file contains no user") }
            return users
        } catch {
            fail("--user-file \(userFile): \(error.description)")
        }
    }

    /// The lines that are not empty, with LF or CRLF as line end.
    private static func lines(_ bytes: [UInt8], _ source: String) -> [Line] {
        bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated().compactMap {
            number, line in
            let line = line.last == 0x0D ? line.dropLast() : line
            guard !line.isEmpty else { return nil }
            let source = "\(source), line \(number + 1)"
            guard let text = String(validating: line, as: UTF8.self) else {
                fail("\(source) is not UTF-8")
            }
            return (source, text)
        }
    }

    /// The first colon ends the name (RFC 7617 section 2).
    private static func parts(_ account: String) -> (name: String, password: String)? {
        guard let colon = account.firstIndex(of: ":") else { return nil }
        return (String(account[..<colon]), String(account[account.index(after: colon)...]))
    }

    private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F }

    /// The names by which the server is reached.
    /// - Parameter host: the host that the server listens at.
    func hosts(beside host: String) -> AllowedHosts {
        // Among the names below `.local` only this machine's own name is added: any machine on the
        // link can claim another one (RFC 6762 section 21).
        let own = Syscalls.hostName()
        var hosts = AllowedHosts([own, "\(own).local", host])
        for name in allowHost { hosts.allow(name) }
        return hosts
    }

    /// The handler after a check of hosts, whose refusals name the flag that allows more hosts.
    static func checkingHosts(of handler: some Handler, _ hosts: AllowedHosts) -> HostCheckHandler {
        HostCheckHandler(handler, hosts: hosts, setting: "--allow-host")
    }

    /// The handler after authentication. No page of another origin needs it, so preflight requests
    /// need a login, too: their answers would reveal which files exist.
    /// - Parameter optionsFields: the fields of an answer to OPTIONS without a login.
    func guarding(
        _ handler: any Handler, optionsFields: HTTPFields = HTTPFields()
    ) -> any Handler {
        guard auth != .none else { return handler }
        let accounts = MemoryAccountStore(
            realm: realm ?? ServerConfiguration.defaultServerName, rounds: Self.rounds)
        for account in allUsers() {
            guard let (name, password) = Self.parts(account) else { continue }
            do throws(InvalidUserName) {
                try accounts.add(name, password: password)
            } catch {
                fail("\(name): \(error.description)")
            }
        }
        var options = Authenticator.Options()
        options.schemes = [auth == .basic ? .basic : .digest]
        return AuthenticationHandler(
            handler, by: Authenticator(accounts: accounts, options: options),
            optionsFields: optionsFields)
    }
}
