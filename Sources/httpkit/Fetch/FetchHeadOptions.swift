import ArgumentParser
import HTTPParser
import URLClient

/// Flags of curl for single fields of the request.
struct FetchHeadOptions: ParsableArguments {
    @Flag(
        name: [.customShort("I"), .customLong("head")],
        help: "Request only the head, by HEAD, and print it.")
    var isHeadOnly = false

    @Option(
        name: [.customShort("A"), .long], parsing: .unconditional,
        help: ArgumentHelp("The field User-Agent; none if empty.", valueName: "text"))
    var userAgent: String?

    @Option(
        name: [.customShort("b"), .long],
        help: ArgumentHelp(
            "Cookies for the URL's host, or a file of cookies to send; can be given several times.",
            discussion: "The file, in the format of cookies.txt, is not changed.",
            valueName: "name=value; ...|file"))
    var cookie: [String] = []

    @Option(
        name: [.customShort("r"), .long], parsing: .unconditional,
        help: ArgumentHelp(
            "Request a part, such as 0-99, 100- or -100 for the last bytes.", valueName: "range"))
    var range: String?

    func validate() throws {
        if let userAgent, userAgent.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
            throw ValidationError("-A takes a text without control characters")
        }
        if let range, !Self.isRange(range) {
            throw ValidationError("-r takes ranges such as 0-99, 100- or -100")
        }
        for text in cookie where text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
            throw ValidationError("-b takes a text without control characters")
        }
    }

    /// range-set = 1#( int-range / suffix-range ) (RFC 9110 section 14.1.1)
    private static func isRange(_ text: String) -> Bool {
        text.split(separator: ",", omittingEmptySubsequences: false).allSatisfy { part in
            let ends = part.split(separator: "-", omittingEmptySubsequences: false)
            return ends.count == 2 && ends.contains { !$0.isEmpty }
                && ends.allSatisfy { $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } }
        }
    }

    func apply(to request: inout ClientRequest) {
        if isHeadOnly { request.method = .head }
        if let range {
            request.fields[.range] = "bytes=\(range)"
            // A part of compressed content could not be decoded.
            request.decodesContent = false
        }
        if let userAgent, !userAgent.isEmpty { request.fields[.userAgent] = userAgent }
    }

    func apply(to configuration: inout ClientConfiguration) {
        if userAgent?.isEmpty == true { configuration.userAgent = nil }
    }

    // MARK: Cookies

    /// Adds the cookies of `-b` to the session.
    /// - Parameter origin: the origin that gets the cookies; cookies of files have their own.
    /// - Returns: the cookies that must not be stored.
    /// - Throws: `ClientError` for a file that cannot be read.
    func addCookies(
        to storage: CookieStorage, for origin: Origin?
    ) throws(ClientError) -> [Cookie] {
        var added: [Cookie] = []
        for text in cookie {
            guard text.contains("=") else {
                let file = CookieStorage(file: text, format: .netscape)
                if let error = file.loadError { throw error }
                for cookie in file.cookies { storage.store(cookie) }
                continue
            }
            added += Self.cookies(text, for: origin)
        }
        for cookie in added { storage.store(cookie) }
        return added
    }

    /// Removes the cookies that the server has not changed.
    static func remove(_ cookies: [Cookie], from storage: CookieStorage) {
        let all = Set(storage.cookies)
        for cookie in cookies where all.contains(cookie) { storage.remove(cookie) }
    }

    private static func cookies(_ text: String, for origin: Origin?) -> [Cookie] {
        guard let origin else { return [] }
        return text.split(separator: ";").compactMap { pair in
            let pair = Substring(pair.drop { $0 == " " })
            guard let sign = pair.firstIndex(of: "=") else { return nil }
            return Cookie(
                name: String(pair[..<sign]), value: String(pair[pair.index(after: sign)...]),
                domain: origin.host, creation: HTTPDate(secondsSinceEpoch: 0))
        }
    }
}
