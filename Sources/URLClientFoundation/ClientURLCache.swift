#if FoundationNetworking
    public import Foundation
    internal import HTTPParser
    public import URLClient

    #if canImport(FoundationNetworking)
        public import FoundationNetworking
    #endif

    /// A cache of responses with the names of `URLCache`, based on ``/URLClient/ClientCache``.
    public final class ClientURLCache: NSObject, @unchecked Sendable {
        /// The default cache of sessions.
        public static let shared = ClientURLCache(client: .shared)

        /// The underlying cache.
        public let client: ClientCache
        /// The most bytes in memory.
        public let memoryCapacity: Int
        /// The most bytes on the disk; 0 without a folder.
        public let diskCapacity: Int

        /// Creates a wrapper of a cache.
        /// - Parameters:
        ///   - client: the cache.
        ///   - memoryCapacity: the cache's limit in memory, in bytes, which only the property
        ///     reports.
        ///   - diskCapacity: the cache's limit on the disk, in bytes, which only the property
        ///     reports.
        public init(client: ClientCache, memoryCapacity: Int = 16 << 20, diskCapacity: Int = 0) {
            (self.client, self.memoryCapacity) = (client, memoryCapacity)
            self.diskCapacity = diskCapacity
        }

        /// Creates a cache.
        /// - Parameters:
        ///   - memoryCapacity: the most bytes in memory.
        ///   - diskCapacity: the most bytes on the disk.
        ///   - directory: the folder on the disk. Without one, or if it cannot be used, the cache
        ///     is only in memory, and ``diskCapacity`` is 0.
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

        /// The number of bytes in memory.
        public var currentMemoryUsage: Int { client.memoryByteCount }

        /// The number of bytes on the disk.
        public var currentDiskUsage: Int { Int(clamping: client.diskByteCount) }

        /// The stored response for a request, fresh or stale; nil without one. May wait for the
        /// disk.
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

        /// Stores a response for a GET request. Requests with another method, responses that are
        /// not HTTP responses, and the storage policy `.notAllowed` leave the cache unchanged. With
        /// `.allowedInMemoryOnly` nothing is written to the disk, and the URL's responses on the
        /// disk are removed.
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

        /// Removes the stored responses for the URL of a request.
        public func removeCachedResponse(for request: URLRequest) {
            guard let url = request.url else { return }
            client.remove(url.absoluteString)
        }

        /// Removes everything.
        public func removeAllCachedResponses() { client.removeAll() }
    }
#endif
