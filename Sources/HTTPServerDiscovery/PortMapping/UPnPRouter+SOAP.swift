#if os(Linux)
    internal import HTTPParser

    extension UPnPRouter {
        /// - Returns: the content of the answer to a successful action.
        func call(
            _ action: String, _ arguments: [(String, String)], _ exchange: RouterExchange
        ) throws(NATPortMappingError) -> [UInt8] {
            let answer = try answer(action, arguments, exchange)
            if let code = try Self.code(of: answer) { throw Self.error(code) }
            return answer.content
        }

        func answer(
            _ action: String, _ arguments: [(String, String)], _ exchange: RouterExchange
        ) throws(NATPortMappingError) -> RouterExchange.Answer {
            let arguments = arguments.map { "<\($0)>\($1)</\($0)>" }.joined()
            let body = """
                <?xml version="1.0"?>\r
                <s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" \
                s:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"><s:Body>\
                <u:\(action) xmlns:u="\(service.type)">\(arguments)</u:\(action)>\
                </s:Body></s:Envelope>\r\n
                """
            return try exchange.post(
                body, to: service.control, action: "\(service.type)#\(action)")
        }

        /// - Returns: the error code; `nil` for none.
        static func code(
            of answer: RouterExchange.Answer
        ) throws(NATPortMappingError) -> Int? {
            if let code = UPnPXML.number("errorCode", in: answer.content) { return code }
            if answer.status == .ok { return nil }
            throw answer.status == .unauthorized || answer.status == .forbidden
                ? .refused : .notSupported
        }

        /// UPnP Device Architecture 1.0 section 3.2.2, WANIPConnection:1 section 2.4.
        static func error(_ code: Int) -> NATPortMappingError {
            switch code {
            case 401, 602: .notSupported
            case 606: .refused
            case 603, 728: .outOfResources
            case 718, 729: .portTaken
            default: .upnp(code: code)
            }
        }
    }
#endif
