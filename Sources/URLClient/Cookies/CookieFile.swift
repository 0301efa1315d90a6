internal import HTTPCodecs
package import HTTPParser
internal import ToolkitSystem

/// How cookies are written to a file.
public enum CookieFileFormat: Sendable, Hashable {
    /// JSON with a version, which preserves all properties of a cookie. Session cookies are left
    /// out.
    case native
    /// The format of Netscape's `cookies.txt`, which curl and wget read and write. It has no
    /// SameSite and no time of creation. Session cookies are kept.
    case netscape
}

/// A file of cookies.
struct CookieFile: Sendable {
    let path: String
    let format: CookieFileFormat

    /// The longest file that is read, in bytes.
    static let byteLimit = 32 << 20

    /// The cookies of the file; none if the file is missing or is not a cookie file.
    /// - Throws: the reason why the file must not be overwritten.
    func load(now: HTTPDate) throws(StoreFiles.Refusal) -> [Cookie] {
        let content: [UInt8]?
        do throws(SystemError) {
            content = try StoreFiles.load(path, upTo: Self.byteLimit)
        } catch {
            throw .unreadable(error)
        }
        guard let bytes = content else { return [] }
        switch format {
        case .native: return try NativeCookies.cookies(in: bytes)
        case .netscape:
            return NetscapeCookies.cookies(in: bytes, now: now)
        }
    }

    func save(_ cookies: [Cookie]) throws {
        switch format {
        case .native: try Syscalls.storeFile(path, NativeCookies.bytes(of: cookies))
        case .netscape:
            try Syscalls.storeFile(path, NetscapeCookies.bytes(of: cookies))
        }
    }
}

/// `{"version":1,"cookies":[…]}`.
private enum NativeCookies {
    struct File: Codable {
        var version = 1
        var cookies: [Row]
    }

    struct Row: Codable {
        var name: String
        var value: String
        var domain: String
        var path: String
        var expiry: Int64
        var creation: Int64
        var hostOnly: Bool
        var secure: Bool
        var httpOnly: Bool
        var sameSite: String
        /// Missing for cookies that are UTF-8.
        var latin1: Bool?
    }

    static func cookies(in bytes: [UInt8]) throws(StoreFiles.Refusal) -> [Cookie] {
        var json = JSONBody()
        json.byteLimit = CookieFile.byteLimit
        guard let file = try? json.decode(File.self, from: bytes), file.version == 1 else {
            try StoreFiles.refuseNewer(bytes, than: 1, json)
            return []
        }
        return file.cookies.map { row in
            var cookie = Cookie(
                name: row.name, value: row.value, domain: row.domain, path: row.path,
                expiry: HTTPDate(secondsSinceEpoch: row.expiry), isHostOnly: row.hostOnly,
                isSecure: row.secure, isHTTPOnly: row.httpOnly,
                sameSite: Cookie.SameSite(rawValue: row.sameSite) ?? .strict,
                creation: HTTPDate(secondsSinceEpoch: row.creation))
            cookie.isLatin1 = row.latin1 ?? false
            return cookie
        }
    }

    static func bytes(of cookies: [Cookie]) throws -> [UInt8] {
        let rows = cookies.compactMap { cookie -> Row? in
            guard let expiry = cookie.expiry else { return nil }
            return Row(
                name: cookie.name, value: cookie.value, domain: cookie.domain, path: cookie.path,
                expiry: expiry.secondsSinceEpoch, creation: cookie.creation.secondsSinceEpoch,
                hostOnly: cookie.isHostOnly, secure: cookie.isSecure,
                httpOnly: cookie.isHTTPOnly, sameSite: cookie.sameSite.rawValue,
                latin1: cookie.isLatin1 ? true : nil)
        }
        return try JSONBody().encode(File(cookies: rows))
    }
}

/// Lines of seven columns, separated by tabs: domain, whether subdomains get the cookie, path,
/// whether it is for https only, seconds since 1970 or 0, name, value. The prefix `#HttpOnly_`
/// marks cookies for HTTP only; other lines that begin with `#` are comments.
package enum NetscapeCookies {
    package static func cookies(in bytes: [UInt8], now: HTTPDate) -> [Cookie] {
        bytes.split(whereSeparator: { $0 == 10 || $0 == 13 }).compactMap { line in
            cookie(line, now: now)
        }
    }

    private static func cookie(_ bytes: ArraySlice<UInt8>, now: HTTPDate) -> Cookie? {
        let text = String(validating: bytes, as: UTF8.self)
        var line = (text ?? FieldLines.text(bytes))[...]
        let mark = "#HttpOnly_"
        let isHTTPOnly = line.hasPrefix(mark)
        if isHTTPOnly { line = line.dropFirst(mark.count) }
        guard line.utf8.first != UInt8(ascii: "#") else { return nil }
        let columns = line.utf8.split(separator: 9, omittingEmptySubsequences: false).map {
            String(Substring($0))
        }
        guard columns.count == 7, let seconds = FieldValues.parseDecimal(columns[4]),
            columns[2].utf8.first == UInt8(ascii: "/")
        else { return nil }
        let domain = columns[0].hasPrefix(".") ? String(columns[0].dropFirst()) : columns[0]
        guard !domain.isEmpty else { return nil }
        var cookie = Cookie(
            name: columns[5], value: columns[6], domain: domain, path: columns[2],
            expiry: seconds == 0 ? nil : HTTPDate(secondsSinceEpoch: seconds),
            isHostOnly: columns[1] != "TRUE", isSecure: columns[3] == "TRUE",
            isHTTPOnly: isHTTPOnly, creation: now)
        cookie.isLatin1 = text == nil
        return cookie
    }

    package static func bytes(of cookies: [Cookie]) -> [UInt8] {
        var bytes = Array("# Netscape HTTP Cookie File\n".utf8)
        for cookie in cookies where !cookie.holdsTab {
            let columns = [
                (cookie.isHTTPOnly ? "#HttpOnly_" : "") + (cookie.isHostOnly ? "" : ".")
                    + cookie.domain,
                cookie.isHostOnly ? "FALSE" : "TRUE", cookie.path,
                cookie.isSecure ? "TRUE" : "FALSE",
                "\(cookie.expiry?.secondsSinceEpoch ?? 0)", cookie.name, cookie.value,
            ]
            bytes += cookie.bytes(of: columns.joined(separator: "\t") + "\n")
        }
        return bytes
    }
}

extension Cookie {
    /// Whether there is a control character, which the format cannot express.
    fileprivate var holdsTab: Bool {
        [name, value, domain, path].contains { text in text.utf8.contains { $0 < 0x20 } }
    }
}
