#if FoundationNetworking
    public import Foundation
    internal import HTTPParser
    public import URLClient

    #if canImport(FoundationNetworking)
        public import FoundationNetworking
    #endif

    /// Stored responses, by the names of `URLCache`, over ``/URLClient/ClientCache``.
    public final class ClientURLCache: NSObject, @unchecked Sendable {
        /// The cache of sessions that are given no other.
        public static let shared = ClientURLCache(client: .shared)

        /// The cache below.
        public let client: ClientCache
        /// How many bytes are kept in memory at most.
        public let memoryCapacity: Int
        /// How many bytes are kept on the disk at most; 0 without a folder.
        public let diskCapacity: Int

        /// Gives a cache the names of `URLCache`.
        /// - Parameters:
        ///   - client: the cache.
        ///   - memoryCapacity: its limit in memory, in bytes, as the property reports it.
        ///   - diskCapacity: its limit on the disk, in bytes, as the property reports it.
        public init(client: ClientCache, memoryCapacity: Int = 16 << 20, diskCapacity: Int = 0) {
            (self.client, self.memoryCapacity) = (client, memoryCapacity)
            self.diskCapacity = diskCapacity
        }

        /// Creates a cache.
        /// - Parameters:
        ///   - memoryCapacity: how many bytes are kept in memory.
        ///   - diskCapacity: how many bytes are kept on the disk.
        ///   - directory: the folder for them. Without one, or when it cannot be used, the cache is
        ///     in memory alone, and ``diskCapacity`` is 0.
        public convenience init(
            memoryCapacity: Int, diskCapacity: Int, directory: URL? = nil
        ) {
            let (memory, disk) = (max(0, memoryCapacity), max(0, diskCapacity))
            if disk > 0, let directory,
                let cache = try? ClientCache(
                    memoryLimit: memory, folder: directory.path, diskLimit: Int64(disk))
            {
                self.init(client: cache, memoryCapacity: memory, diskCapacity: disk)
            } else {
                self.init(client: ClientCache(memoryLimit: memory), memoryCapacity: memory)
            }
        }

        /// Creates a cache. The same as ``init(memoryCapacity:diskCapacity:directory:)``.
        public convenience init(memoryCapacity: Int, diskCapacity: Int, diskPath path: String?) {
            self.init(
                memoryCapacity: memoryCapacity, diskCapacity: diskCapacity,
                directory: path.map { URL(fileURLWithPath: $0) })
        }

        static func of(_ client: ClientCache) -> ClientURLCache {
            client === shared.client ? shared : ClientURLCache(client: client)
        }

        /// How many bytes are in memory.
        public var currentMemoryUsage: Int { client.memoryByteCount }

        /// How many bytes are on the disk.
        public var currentDiskUsage: Int { Int(clamping: client.diskByteCount) }

        /// The stored response for a request, fresh or not; nil when there is none. It may wait for
        /// the disk.
        public func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
            guard let url = request.url,
                let (head, content) = client.storedNow(for: ClientRequest(request)),
                let response = HTTPURLResponse(
                    url: url, statusCode: Int(head.status.code),
                    httpVersion: head.version.rawValue,
                    headerFields: head.fields.byName())
            else { return nil }
            return CachedURLResponse(response: response, data: Data(content))
        }

        /// Stores a response for a GET request. Other methods, responses that are not of HTTP, and
        /// the storage policy `.notAllowed` leave the cache as it is. With `.allowedInMemoryOnly`
        /// nothing is written to the disk, and what is there for the URL is removed.
        public func storeCachedResponse(
            _ cachedResponse: CachedURLResponse, for request: URLRequest
        ) {
            let asked = ClientRequest(request)
            guard asked.method == .get, cachedResponse.storagePolicy != .notAllowed,
                let response = cachedResponse.response as? HTTPURLResponse,
                let status = HTTPStatus(response.statusCode), let fields = HTTPFields(of: response)
            else { return }
            client.keep(
                status, fields, [UInt8](cachedResponse.data), for: asked,
                inMemoryOnly: cachedResponse.storagePolicy == .allowedInMemoryOnly)
        }

        /// Removes what is stored for the URL of a request.
        public func removeCachedResponse(for request: URLRequest) {
            guard let url = request.url else { return }
            client.remove(url.absoluteString)
        }

        /// Removes everything.
        public func removeAllCachedResponses() { client.removeAll() }
    }
#endif
