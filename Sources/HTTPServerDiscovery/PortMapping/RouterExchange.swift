#if os(Linux)
    internal import CMiniUPnPShims
    internal import HTTPParser
    internal import ToolkitSystem

    /// HTTP exchanges with a router. Each blocks, and ends within a tenth of a second after its
    /// result is no longer needed.
    ///
    /// libminiupnpc has functions for this, but they limit neither length nor time.
    struct RouterExchange: Sendable {
        /// An answer of the router.
        struct Answer: Sendable {
            var status: HTTPStatus
            var content: [UInt8]
        }

        /// The most bytes of content of an answer; descriptions of routers have a tenth of it.
        static let contentLimit = 128 << 10

        /// The IPv4 address of the router, in network order.
        let address: [UInt8]
        /// Whether the answer is no longer needed.
        let isOver: @Sendable () -> Bool

        /// The address of this machine on the route to the router.
        func ownAddress() throws(NATPortMappingError) -> String {
            let socket = Descriptor(owning: unsafe http_upnp_connect(address, 1900, 1))
            guard socket.raw >= 0, let own = Syscalls.localAddress(of: socket.raw) else {
                throw .noAnswer
            }
            return own.host
        }

        /// The content of a resource.
        func get(_ url: RouterURL) throws(NATPortMappingError) -> [UInt8] {
            let answer = try perform(.get, url, [:], content: [])
            guard answer.status == .ok else { throw .notSupported }
            return answer.content
        }

        /// Sends XML.
        func post(
            _ content: String, to url: RouterURL, action: String
        ) throws(NATPortMappingError) -> Answer {
            let fields: HTTPFields = [
                "Content-Type": "text/xml; charset=\"utf-8\"", "SOAPAction": "\"\(action)\"",
            ]
            return try perform(.post, url, fields, content: Array(content.utf8))
        }

        private func perform(
            _ method: HTTPMethod, _ url: RouterURL, _ fields: HTTPFields, content: [UInt8]
        ) throws(NATPortMappingError) -> Answer {
            let bytes = try Self.request(
                method, url, host: RawSocketAddress.text(address), fields, content)
            let socket = Descriptor(owning: unsafe http_upnp_connect(address, url.port, 0))
            guard socket.raw >= 0 else { throw .noAnswer }
            try send(bytes[...], socket.raw)
            return try receive(socket.raw)
        }

        private static func request(
            _ method: HTTPMethod, _ url: RouterURL, host: String, _ fields: HTTPFields,
            _ content: [UInt8]
        ) throws(NATPortMappingError) -> [UInt8] {
            var fields = fields
            fields[.host] = "\(host):\(url.port)"
            var serializer = RequestSerializer()
            var buffer = ByteBuffer()
            do throws(HTTPMessageError) {
                try serializer.head(
                    method, target: url.path, fields: fields,
                    framing: content.isEmpty ? .none : .length(Int64(content.count)), closes: true,
                    into: &buffer)
                try serializer.content(content.span, into: &buffer)
                try serializer.end(into: &buffer)
            } catch {
                // The router's URL is invalid in a request.
                throw .notSupported
            }
            return unsafe Array(buffer.unsafeBytes)
        }

        // MARK: The socket

        private func send(
            _ bytes: ArraySlice<UInt8>, _ socket: CInt
        ) throws(NATPortMappingError) {
            var rest = bytes
            while !rest.isEmpty {
                try wait(socket, writes: 1)
                let result = unsafe rest.withUnsafeBytes {
                    unsafe Syscalls.send(socket, $0, more: false)
                }
                switch result {
                case .done(let count): rest = rest.dropFirst(count)
                case .wouldBlock: continue
                case .failed: throw .noAnswer
                }
            }
        }

        private func receive(_ socket: CInt) throws(NATPortMappingError) -> Answer {
            var parsing = RouterAnswerParsing()
            var room = [UInt8](repeating: 0, count: 8 << 10)
            while true {
                try wait(socket, writes: 0)
                switch unsafe room.withUnsafeMutableBytes({
                    unsafe Syscalls.receive(socket, $0)
                }) {
                case .done(let count):
                    if let answer = try parsing.add(room[..<count]) { return answer }
                case .wouldBlock: continue
                case .failed: throw .noAnswer
                }
            }
        }

        /// Checks ten times a second whether the call is over.
        private func wait(_ socket: CInt, writes: CInt) throws(NATPortMappingError) {
            repeat {
                guard !isOver() else { throw .noAnswer }
            } while http_upnp_wait(socket, writes, 100) == 0
        }
    }

    /// Reads the answer of a router, within bounds.
    private struct RouterAnswerParsing: ~Copyable {
        private var parser: ResponseParser
        private var status: HTTPStatus?
        private var content: [UInt8] = []

        init() {
            var limits = ParserLimits()
            limits.fieldSectionBytes = 16 << 10
            limits.contentBytes = Int64(RouterExchange.contentLimit)
            // Routers have simple servers, and no intermediary that could read the answer
            // differently.
            parser = ResponseParser(
                limits: limits,
                leniency: [.bareLineFeed, .missingReasonSpace, .identicalContentLengths])
        }

        /// - Parameter bytes: the next bytes; empty at the end of the stream.
        /// - Returns: the answer, once it is complete.
        mutating func add(
            _ bytes: ArraySlice<UInt8>
        ) throws(NATPortMappingError) -> RouterExchange.Answer? {
            do throws(HTTPParseError) {
                if !bytes.isEmpty {
                    parser.append(Array(bytes).span)
                    return try next()
                }
                try parser.finish()
                if let answer = try next() { return answer }
            } catch {
                // A truncated answer counts as no answer.
                throw error.kind == .truncated ? .noAnswer : .notSupported
            }
            throw .noAnswer
        }

        private mutating func next() throws(HTTPParseError) -> RouterExchange.Answer? {
            try Self.next(&parser, &status, &content)
        }

        private static func next(
            _ parser: inout ResponseParser, _ status: inout HTTPStatus?, _ content: inout [UInt8]
        ) throws(HTTPParseError) -> RouterExchange.Answer? {
            while let event = try parser.next() {
                switch event {
                case .interim: break
                case .head(let head): status = head.status
                case .content(let bytes): content.append(copying: bytes)
                case .end:
                    return status.map { RouterExchange.Answer(status: $0, content: content) }
                }
            }
            return nil
        }
    }
#endif
