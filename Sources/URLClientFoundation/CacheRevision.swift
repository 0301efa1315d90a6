#if FoundationNetworking
    internal import Foundation
    internal import HTTPParser
    internal import URLClient

    #if canImport(FoundationNetworking)
        internal import FoundationNetworking
    #endif

    extension ClientCache {
        /// Replaces the stored response of a request by the delegate's; nil removes it. A newer
        /// response that was stored meanwhile stays unchanged.
        /// - Parameter response: the response that the delegate has received.
        func revise(
            _ request: ClientRequest, of response: ClientResponse,
            from proposed: CachedURLResponse, to wanted: CachedURLResponse?
        ) async {
            guard wanted !== proposed else { return }
            guard let wanted, wanted.storagePolicy != .notAllowed else {
                return await replaceStored(for: request, of: response.fields) { _ in nil }
            }
            let change: (data: [UInt8], fields: HTTPFields?) = (
                [UInt8](wanted.data),
                wanted.response === proposed.response ? nil : HTTPFields(of: wanted.response)
            )
            let inMemoryOnly = wanted.storagePolicy == .allowedInMemoryOnly
            await replaceStored(
                for: request, of: response.fields, inMemoryOnly: inMemoryOnly
            ) { head in
                if let fields = change.fields { head.fields = CacheRules.storedAsDelivered(fields) }
                let length = head.fields[.contentLength]
                if length != "\(change.data.count)" { head.fields.remove(.contentLength) }
                return change.data
            }
        }
    }

    extension HTTPFields {
        /// Nil for a response that is not an HTTP response.
        init?(of response: URLResponse) {
            guard let response = response as? HTTPURLResponse else { return nil }
            self.init()
            for case let (name as String, value as String) in response.allHeaderFields {
                if let name = HTTPFieldName(name) { append(name, value) }
            }
        }
    }
#endif
