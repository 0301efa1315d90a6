#if os(Linux)
    internal import CMiniUPnPShims

    /// Reads XML of a router with libminiupnpc, and searches for routers.
    enum UPnPXML {
        /// A service that maps ports, from a description.
        struct Service: Hashable, Sendable {
            var control: RouterURL
            var type: String
        }

        /// The URLs of descriptions at a router's address. Blocks for one to four seconds.
        /// - Parameter own: the address of the interface to search on.
        static func search(own: String, router: String) -> [String] {
            let lines = unsafe text(2 << 10) { unsafe http_upnp_search(own, router, $0, $1) }
            return lines?.split(separator: "\n").map(String.init) ?? []
        }

        /// The services of a description.
        /// - Parameter url: the URL of the description.
        static func services(in xml: [UInt8], url: String, router: String) -> [Service] {
            let padded = padded(xml)
            return (CInt(0)...1).compactMap { index in
                // The sizes of the library's own buffers.
                var type: String?
                let control = unsafe text(1 << 10) { control, controlSize in
                    var isThere: CInt = 0
                    type = unsafe text(128) { type, typeSize in
                        isThere = unsafe http_upnp_service(
                            padded, CInt(xml.count), url, index, control, controlSize, type,
                            typeSize)
                        return isThere
                    }
                    return isThere
                }
                guard let control, let type, isType(type) else { return nil }
                return RouterURL(control, at: router).map { Service(control: $0, type: type) }
            }
        }

        /// The content of an element of an answer.
        static func value(_ name: String, in xml: [UInt8]) -> String? {
            unsafe text(128) { unsafe http_upnp_value(padded(xml), CInt(xml.count), name, $0, $1) }
        }

        /// The content of an element of an answer, as a number.
        static func number(_ name: String, in xml: [UInt8]) -> Int? {
            guard let text = value(name, in: xml), text.utf8.count <= 9,
                text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
            else { return nil }
            return Int(text)
        }

        /// The type is written into requests, so only the characters of a URN are accepted.
        private static func isType(_ text: String) -> Bool {
            text.utf8.allSatisfy { byte in
                (0x30...0x3A).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
                    || byte == 0x2D || byte == 0x2E || byte == 0x5F
            }
        }

        /// Padding, because the library reads some bytes past the end.
        private static func padded(_ xml: [UInt8]) -> [UInt8] {
            xml + [UInt8](repeating: 0, count: 64)
        }

        /// The text that a function writes into a buffer of `size` bytes; `nil` unless it returns a
        /// number above 0.
        private static func text(
            _ size: Int, _ write: (UnsafeMutablePointer<CChar>, CInt) -> CInt
        ) -> String? {
            unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { room in
                guard let base = room.baseAddress, unsafe write(base, CInt(size)) > 0 else {
                    return nil
                }
                return unsafe String(validatingCString: base)
            }
        }
    }
#endif
