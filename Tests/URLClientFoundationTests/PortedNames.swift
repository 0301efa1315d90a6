#if FoundationNetworking
    import URLClientFoundation

    // As the documentation recommends for code that comes from URLSession: the rest of this target
    // uses only URLSession's names.
    typealias URLSession = ClientURLSession
    typealias URLSessionConfiguration = ClientURLSessionConfiguration
    typealias URLSessionTask = ClientURLSessionTask
    typealias URLSessionDataTask = ClientURLSessionDataTask
    typealias URLSessionUploadTask = ClientURLSessionUploadTask
    typealias URLSessionDownloadTask = ClientURLSessionDownloadTask
    typealias URLSessionDelegate = ClientURLSessionDelegate
    typealias URLSessionTaskDelegate = ClientURLSessionTaskDelegate
    typealias URLSessionDataDelegate = ClientURLSessionDataDelegate
    typealias URLSessionDownloadDelegate = ClientURLSessionDownloadDelegate
    typealias HTTPCookieStorage = ClientHTTPCookieStorage
    typealias URLCache = ClientURLCache
    typealias URLCredentialStorage = ClientURLCredentialStorage
    typealias URLSessionTaskMetrics = ClientURLSessionTaskMetrics
#endif
