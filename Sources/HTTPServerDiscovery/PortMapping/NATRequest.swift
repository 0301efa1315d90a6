#if os(Linux)
    internal import CNATPMPShims
    internal import Dispatch
    internal import HTTPServerCore
    internal import ToolkitSystem

    /// A gateway's answer.
    enum NATAnswer: Sendable {
        case address(String)
        case mapping(port: UInt16, seconds: UInt32)
    }

    /// One request to a gateway, repeated until it is answered (RFC 6886 section 3.1).
    ///
    /// Confined to the queue that is passed to `init`; the library never blocks.
    @safe
    final class NATRequest: @unchecked Sendable {
        enum Kind: Sendable {
            /// A request for the external address of the gateway.
            case address
            /// A request to map a port for some seconds; 0 removes the mapping.
            case mapping(port: UInt16, wish: UInt16, seconds: UInt32)
        }

        typealias Completion = @Sendable (Result<NATAnswer, NATPortMappingError>) -> Void

        private var library: OpaquePointer?
        private var kind = Kind.address
        private let queue: DispatchQueue
        private var source: (any DispatchSourceRead)?
        private var timer: (any DispatchSourceTimer)?
        private let end: DispatchTime
        private var completion: Completion?

        /// - Parameter patience: the time to wait for the answer.
        init(queue: DispatchQueue, patience: Duration, completion: @escaping Completion) {
            self.queue = queue
            self.completion = completion
            end = .now() + .nanoseconds(Int(clamping: patience.nanoseconds))
        }

        deinit {
            if let library = unsafe library { unsafe http_nat_close(library) }
        }

        /// Sends the request. The completion is called once, and this object is retained until
        /// then.
        func send(_ kind: Kind, gateway: String?) {
            var code: CInt
            if let gateway {
                guard let address = RawSocketAddress.bytes(gateway), address.count == 4 else {
                    return finish(.failure(.noGateway))
                }
                code = unsafe http_nat_open(&library, address)
            } else {
                code = unsafe http_nat_open(&library, nil)
            }
            guard code == 0, let library = unsafe library else {
                return finish(.failure(Self.error(code)))
            }
            self.kind = kind
            code = unsafe ask(library)
            guard code == 0 else { return finish(.failure(Self.error(code))) }
            unsafe watch(library)
        }

        private func ask(_ library: OpaquePointer) -> CInt {
            switch kind {
            case .address: unsafe http_nat_ask_address(library)
            case .mapping(let port, let wish, let seconds):
                unsafe http_nat_ask_mapping(library, port, wish, seconds)
            }
        }

        private func watch(_ library: OpaquePointer) {
            let source = DispatchSource.makeReadSource(
                fileDescriptor: unsafe http_nat_socket(library), queue: queue)
            source.setEventHandler { @Sendable [self] in read() }
            // The socket is closed when this object is destroyed; the source must be released
            // before.
            source.setCancelHandler { @Sendable [self] in self.source = nil }
            self.source = source
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.setEventHandler { @Sendable [self] in read() }
            timer.setCancelHandler { @Sendable [self] in self.timer = nil }
            self.timer = timer
            unsafe arm(library)
            source.activate()
            timer.activate()
        }

        /// Sets the timer to the time at which the library repeats the request.
        private func arm(_ library: OpaquePointer) {
            let wait = Int(clamping: unsafe http_nat_wait(library))
            timer?.schedule(deadline: min(.now() + .microseconds(wait), end))
        }

        private func read() {
            guard completion != nil, let library = unsafe library else { return }
            var answer = http_nat_answer()
            var code = unsafe http_nat_read(library, &answer)
            if code == 0 {
                if let wanted = self.answer(answer) { return finish(.success(wanted)) }
                // The library accepts any answer, so the request is repeated.
                code = unsafe ask(library)
            }
            guard code == 0 || Int(code) == HTTP_NAT_TRY_AGAIN else {
                return finish(.failure(Self.error(code)))
            }
            guard DispatchTime.now() < end else { return finish(.failure(.noAnswer)) }
            unsafe arm(library)
        }

        /// - Returns: `nil` for an answer to another request, such as a late one, or a forged one.
        private func answer(_ answer: http_nat_answer) -> NATAnswer? {
            switch kind {
            case .address:
                guard answer.is_mapping == 0 else { return nil }
                let (a, b, c, d) = answer.address
                return .address(RawSocketAddress.text([a, b, c, d]))
            case .mapping(let port, _, _):
                guard answer.is_mapping != 0, answer.own_port == port else { return nil }
                return .mapping(port: answer.port, seconds: answer.seconds)
            }
        }

        private func finish(_ result: Result<NATAnswer, NATPortMappingError>) {
            guard let completion else { return }
            cancel()
            completion(result)
        }

        /// Cancels the request; the completion is not called.
        func cancel() {
            completion = nil
            source?.cancel()
            timer?.cancel()
        }

        /// The IPv4 address of the default route's gateway, in network order; `nil` if there is
        /// none.
        static func defaultGateway() -> [UInt8]? {
            var library: OpaquePointer?
            guard unsafe http_nat_open(&library, nil) == 0, let library = unsafe library else {
                return nil
            }
            defer { unsafe http_nat_close(library) }
            var address = [UInt8](repeating: 0, count: 4)
            unsafe http_nat_gateway(library, &address)
            return address
        }

        private static func error(_ code: CInt) -> NATPortMappingError {
            switch Int(code) {
            case HTTP_NAT_NO_GATEWAY: .noGateway
            case HTTP_NAT_NO_ANSWER: .noAnswer
            case HTTP_NAT_NOT_SUPPORTED: .notSupported
            case HTTP_NAT_REFUSED: .refused
            case HTTP_NAT_NETWORK_FAILURE: .networkFailure
            case HTTP_NAT_OUT_OF_RESOURCES: .outOfResources
            default: .system(code: code)
            }
        }
    }
#endif
