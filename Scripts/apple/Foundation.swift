// A stand-in for the part of Foundation that the toolkit uses.
@_exported import Darwin
@_exported import Dispatch
public typealias TimeInterval = Double
open class NSObject: NSObjectProtocol { open func isEqual(_ object: Any?) -> Bool { false }; open var hash: Int { 0 }; public init() {} }
public class NSCoder {}
public struct Date: Hashable, Comparable, Codable, Sendable { public init() {}; public init(timeIntervalSince1970: Double) {}; public init(timeIntervalSinceNow: Double) {}; public var timeIntervalSince1970: Double { 0 }; public var timeIntervalSinceNow: Double { 0 }
    public func timeIntervalSince(_ d: Date) -> Double { 0 }; public func addingTimeInterval(_ t: Double) -> Date { self }; public static let distantFuture = Date(), distantPast = Date(); public static var now: Date { Date() }
    public static func < (a: Date, b: Date) -> Bool { false } }
public struct Decimal: Hashable, Codable, Sendable { public init(_ value: Int) {} }
public struct Data: Hashable, Codable, Sendable, RandomAccessCollection, MutableCollection, RangeReplaceableCollection { public init() {}
    public init<S: Sequence>(_ s: S) where S.Element == UInt8 {}; public init(bytes: UnsafeRawPointer, count: Int) {}; public init(repeating: UInt8, count: Int) {}; public init(count: Int) {}
    public var startIndex: Int { 0 }; public var endIndex: Int { 0 }; public subscript(i: Int) -> UInt8 { get { 0 } set {} }; public subscript(r: Range<Int>) -> Data { get { self } set {} }
    public mutating func replaceSubrange<C: Collection>(_ r: Range<Int>, with c: C) where C.Element == UInt8 {}
    public func withUnsafeBytes<R>(_ b: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
    public typealias SubSequence = Data }
public struct URL: Hashable, Codable, Sendable, CustomStringConvertible { public init?(string: String) {}; public init(fileURLWithPath: String) {}; public enum DirectoryHint: Sendable { case isDirectory, notDirectory, checkFileSystem, inferFromPath }; public init(filePath: String, directoryHint: DirectoryHint = .inferFromPath, relativeTo: URL? = nil) {}
    public var absoluteString: String { "" }; public var path: String { "" }; public var scheme: String? { nil }; public var host: String? { nil }; public var port: Int? { nil }; public var query: String? { nil }; public var fragment: String? { nil }; public var user: String? { nil }; public var password: String? { nil }; public var absoluteURL: URL { self }; public var isFileURL: Bool { true }; public var lastPathComponent: String { "" }; public var relativeString: String { "" }; public var description: String { "" }; public init?(string: String, relativeTo: URL?) {}
    public func appendingPathComponent(_ s: String) -> URL { self } }
public struct UUID: Hashable, Sendable { public init() {}; public var uuidString: String { "" } }
public class FileManager: @unchecked Sendable { public func attributesOfItem(atPath: String) throws -> [FileAttributeKey: Any] { [:] }; public class var `default`: FileManager { fatalError() }; public var temporaryDirectory: URL { fatalError() }; public var currentDirectoryPath: String { "" }; public func changeCurrentDirectoryPath(_: String) -> Bool { false }; public func fileExists(atPath: String) -> Bool { false }; public func removeItem(at: URL) throws {}; public func removeItem(atPath: String) throws {}; public func moveItem(at: URL, to: URL) throws {} }
public class Stream: NSObject { public enum Status: UInt { case notOpen, opening, open, reading, writing, atEnd, closed, error }; public var streamStatus: Status { .notOpen }; public var streamError: (any Error)? { nil }; public func open() {}; public func close() {} }
public class InputStream: Stream { public func read(_ b: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int { 0 } }
public class URLResponse: NSObject, @unchecked Sendable { public init(url: URL, mimeType: String?, expectedContentLength: Int, textEncodingName: String?) {}; public var url: URL? { nil } }
public class HTTPURLResponse: URLResponse, @unchecked Sendable { public init?(url: URL, statusCode: Int, httpVersion: String?, headerFields: [String: String]?) { return nil }; public var statusCode: Int { 0 }; public var allHeaderFields: [AnyHashable: Any] { [:] } }
public class NSURLRequest: NSObject { public enum CachePolicy: UInt, Sendable { case useProtocolCachePolicy, reloadIgnoringLocalCacheData, reloadIgnoringLocalAndRemoteCacheData = 4, returnCacheDataElseLoad = 2, returnCacheDataDontLoad = 3, reloadRevalidatingCacheData = 5; public static var reloadIgnoringCacheData: CachePolicy { .reloadIgnoringLocalCacheData } } }
public struct URLRequest: Hashable, Sendable { public typealias CachePolicy = NSURLRequest.CachePolicy; public init(url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: Double = 60) {}; public var url: URL?; public var httpMethod: String?; public var allHTTPHeaderFields: [String: String]?; public var cachePolicy: CachePolicy = .useProtocolCachePolicy; public var timeoutInterval: Double = 60; public var httpShouldHandleCookies = true; public var mainDocumentURL: URL?; public var httpBody: Data?; public var httpBodyStream: InputStream? { get { nil } set {} }
    public func value(forHTTPHeaderField: String) -> String? { nil }; public mutating func setValue(_ v: String?, forHTTPHeaderField: String) {} }
public let NSLocalizedDescriptionKey = ""
public struct URLError: Error, Hashable, Sendable { public struct Code: RawRepresentable, Hashable, Sendable { public let rawValue: Int; public init(rawValue: Int) { self.rawValue = rawValue }; public static let unknown = Code(rawValue: -1) }; public init(_ code: Code, userInfo: [String: Any] = [:]) { self.code = code }; public let code: Code }
open class JSONEncoder: @unchecked Sendable { public struct OutputFormatting: OptionSet, Sendable { public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue }; public static let prettyPrinted = OutputFormatting(rawValue: 1), sortedKeys = OutputFormatting(rawValue: 2), withoutEscapingSlashes = OutputFormatting(rawValue: 8) }
    public enum KeyEncodingStrategy: Sendable { case useDefaultKeys, convertToSnakeCase }; public enum DateEncodingStrategy: Sendable { case deferredToDate, secondsSince1970, millisecondsSince1970, iso8601 }
    open var outputFormatting: OutputFormatting = []; open var keyEncodingStrategy = KeyEncodingStrategy.useDefaultKeys; open var dateEncodingStrategy = DateEncodingStrategy.deferredToDate; open var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    public init() {}; open func encode<T: Encodable>(_ v: T) throws -> Data { Data() } }
open class JSONDecoder: @unchecked Sendable { public enum KeyDecodingStrategy: Sendable { case useDefaultKeys, convertFromSnakeCase }; public enum DateDecodingStrategy: Sendable { case deferredToDate, secondsSince1970, millisecondsSince1970, iso8601 }
    open var keyDecodingStrategy = KeyDecodingStrategy.useDefaultKeys; open var dateDecodingStrategy = DateDecodingStrategy.deferredToDate; open var userInfo: [CodingUserInfoKey: any Sendable] = [:]; open var allowsJSON5 = false
    public init() {}; open func decode<T: Decodable>(_ t: T.Type, from d: Data) throws -> T { fatalError() } }
public struct Notification: @unchecked Sendable { public struct Name: Hashable, RawRepresentable, Sendable { public let rawValue: String; public init(rawValue: String) { self.rawValue = rawValue } } }
public class OperationQueue: NSObject {}
public class NotificationCenter: NSObject, @unchecked Sendable { public static let `default` = NotificationCenter(); @preconcurrency public func addObserver(forName: Notification.Name?, object: Any?, queue: OperationQueue?, using: @escaping @Sendable (Notification) -> Void) -> any NSObjectProtocol { fatalError() } }
public protocol LocalizedError: Error { var errorDescription: String? { get } }
extension Error { public var localizedDescription: String { "" } }
open class NSError: NSObject, Error, @unchecked Sendable { public var userInfo: [String: Any] { [:] }; public var code: Int { 0 }; public var domain: String { "" }; public var localizedDescription: String { "" }; public var localizedFailureReason: String? { nil } }
public class ProcessInfo: @unchecked Sendable { public static let processInfo = ProcessInfo(); public var environment: [String: String] { [:] }; public var arguments: [String] { [] } }
extension String { public enum Encoding { case utf8, ascii }; public init?(data: Data, encoding: Encoding) { return nil } }
extension Data { public struct WritingOptions: OptionSet, Sendable { public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue }; public static let atomic = WritingOptions(rawValue: 1) }; public init(contentsOf: URL) throws {}; public func write(to: URL, options: WritingOptions = []) throws {} }
public struct NSZone {}
public protocol NSCopying { func copy(with zone: NSZone?) -> Any }
public class Operation: NSObject, @unchecked Sendable {}
public class BlockOperation: Operation, @unchecked Sendable { public init(block: @escaping @Sendable () -> Void) {} }
extension OperationQueue { public class var current: OperationQueue? { nil }; public var maxConcurrentOperationCount: Int { get { 0 } set {} }; public func addOperation(_ block: @escaping @Sendable () -> Void) {}; public func addOperations(_ all: [Operation], waitUntilFinished: Bool) {} }
public class Progress: NSObject, @unchecked Sendable { public init(totalUnitCount: Int64) {}; public var totalUnitCount: Int64 { get { 0 } set {} }; public var completedUnitCount: Int64 { get { 0 } set {} }; public var isCancellable: Bool { get { false } set {} }; public var cancellationHandler: (@Sendable () -> Void)? { get { nil } set {} } }
public class CachedURLResponse: NSObject, @unchecked Sendable { public init(response: URLResponse, data: Data) {}; public var response: URLResponse { fatalError() }; public var data: Data { Data() }; public var storagePolicy: URLCache.StoragePolicy { .allowed } }
public class URLCache: NSObject { public enum StoragePolicy: UInt, Sendable { case allowed, allowedInMemoryOnly, notAllowed } }
public class HTTPCookie: NSObject { public convenience init?(properties: [HTTPCookiePropertyKey: Any]) { return nil }; public var name: String { "" }; public var value: String { "" }; public var domain: String { "" }; public var path: String { "" }; public var expiresDate: Date? { nil }; public var isSecure: Bool { false }; public var isHTTPOnly: Bool { false }; public enum AcceptPolicy: UInt, Sendable { case always, never, onlyFromMainDocumentDomain } }
public let NSURLAuthenticationMethodHTTPBasic = "", NSURLAuthenticationMethodHTTPDigest = ""
public let NSURLProtectionSpaceHTTPProxy = "", NSURLProtectionSpaceHTTPSProxy = ""
public let NSURLProtectionSpaceHTTP = "", NSURLProtectionSpaceHTTPS = ""
public class URLProtectionSpace: NSObject, @unchecked Sendable { public var realm: String? { nil }; public func isProxy() -> Bool { false }; public var host: String { "" }; public var port: Int { 0 }; public var `protocol`: String? { nil }; public var authenticationMethod: String { "" }; public init(host: String, port: Int, protocol: String?, realm: String?, authenticationMethod: String?) {}; public init(proxyHost: String, port: Int, type: String?, realm: String?, authenticationMethod: String?) {}; public var proxyType: String? { nil } }
public class URLCredential: NSObject, @unchecked Sendable { public enum Persistence: UInt, Sendable { case none, forSession, permanent, synchronizable }; public init(user: String, password: String, persistence: Persistence) {}; public var user: String? { nil }; public var password: String? { nil }; public var persistence: Persistence { .none } }
public protocol URLAuthenticationChallengeSender: NSObjectProtocol { func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge); func continueWithoutCredential(for challenge: URLAuthenticationChallenge); func cancel(_ challenge: URLAuthenticationChallenge) }
public class URLAuthenticationChallenge: NSObject, @unchecked Sendable { public init(protectionSpace: URLProtectionSpace, proposedCredential: URLCredential?, previousFailureCount: Int, failureResponse: URLResponse?, error: (any Error)?, sender: any URLAuthenticationChallengeSender) {} }
public struct DateInterval: Sendable { public init(start: Date, duration: Double) {} }
extension NSURLRequest { public enum NetworkServiceType: UInt, Sendable { case `default` } }
extension URLRequest { public typealias NetworkServiceType = NSURLRequest.NetworkServiceType; public init(url: URL) { self.init(url: url, cachePolicy: .useProtocolCachePolicy, timeoutInterval: 60) }; public mutating func addValue(_ v: String, forHTTPHeaderField: String) {} }

public struct HTTPCookiePropertyKey: Hashable, Sendable { public init(_ name: String) {}; public init(rawValue: String) {}
    public static let name = Self(""), value = Self(""), domain = Self(""), path = Self(""), secure = Self(""), expires = Self(""), discard = Self("") }
public let NSURLAuthenticationMethodDefault = ""
public struct FileAttributeKey: RawRepresentable, Hashable, Sendable { public let rawValue: String; public init(rawValue: String) { self.rawValue = rawValue }; public static let modificationDate = FileAttributeKey(rawValue: "") }
