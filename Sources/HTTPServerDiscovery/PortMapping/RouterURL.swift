#if os(Linux)
    /// An `http` URL at a router. Its host is the router's address, and not stored.
    struct RouterURL: Hashable, Sendable {
        var port: UInt16
        /// The path, with the query.
        var path: String

        /// - Parameter address: the router's address; a URL of another host gives `nil`.
        init?(_ text: String, at address: String) {
            let bytes = text.utf8
            let start = "http://\(address)"
            // Only visible ASCII characters.
            guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }), text.hasPrefix(start),
                bytes.count <= 512
            else { return nil }
            let rest = text.dropFirst(start.count)
            let authority = rest.prefix { $0 != "/" }
            let path = rest.dropFirst(authority.count)
            guard !path.isEmpty, let port = Self.port(authority) else { return nil }
            self.port = port
            self.path = String(path.prefix { $0 != "#" })
        }

        private static func port(_ text: Substring) -> UInt16? {
            if text.isEmpty { return 80 }
            let digits = text.dropFirst().utf8
            guard text.first == ":", (1...5).contains(digits.count),
                digits.allSatisfy({ (0x30...0x39).contains($0) })
            else { return nil }
            return UInt16(text.dropFirst()).flatMap { $0 > 0 ? $0 : nil }
        }
    }
#endif
