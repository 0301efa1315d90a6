// A stand-in for the part of Foundation that the tests alone use.
public class Bundle: NSObject, @unchecked Sendable { public class var main: Bundle { fatalError() }; public class var allBundles: [Bundle] { [] }; public var bundlePath: String { "" }; public var bundleURL: URL { fatalError() }; public var executableURL: URL? { nil } }
extension FileAttributeKey { public static let posixPermissions = FileAttributeKey(rawValue: "") }
extension FileManager { public func createDirectory(at: URL, withIntermediateDirectories: Bool, attributes: [FileAttributeKey: Any]? = nil) throws {}; public func createDirectory(atPath: String, withIntermediateDirectories: Bool, attributes: [FileAttributeKey: Any]? = nil) throws {}; public func setAttributes(_ all: [FileAttributeKey: Any], ofItemAtPath: String) throws {} }
extension FileManager { public func contentsOfDirectory(atPath: String) throws -> [String] { [] }; public func contents(atPath: String) -> Data? { nil }; public func createFile(atPath: String, contents: Data?, attributes: [FileAttributeKey: Any]? = nil) -> Bool { false }; public func isExecutableFile(atPath: String) -> Bool { false }; public func isWritableFile(atPath: String) -> Bool { false }; public func createSymbolicLink(atPath: String, withDestinationPath: String) throws {}; public func createSymbolicLink(at: URL, withDestinationURL: URL) throws {}
    public struct DirectoryEnumerationOptions: OptionSet, Sendable { public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue } }
    public func contentsOfDirectory(at: URL, includingPropertiesForKeys: [URLResourceKey]?, options: DirectoryEnumerationOptions = []) throws -> [URL] { [] } }
public struct URLResourceKey: Hashable, Sendable {}
public class FileHandle: NSObject, @unchecked Sendable { public var fileDescriptor: Int32 { 0 }; public convenience init?(forUpdatingAtPath: String) { return nil }; public convenience init?(forWritingAtPath: String) { return nil }; public convenience init?(forReadingAtPath: String) { return nil }; public convenience init(fileDescriptor: Int32, closeOnDealloc: Bool = false) { self.init() }; public convenience init(forWritingTo: URL) throws { self.init() }; public convenience init(forReadingFrom: URL) throws { self.init() }; public func truncate(atOffset: UInt64) throws {}; public var availableData: Data { Data() }; public func readDataToEndOfFile() -> Data { Data() }; public func readToEnd() throws -> Data? { nil }; public func read(upToCount: Int) throws -> Data? { nil }; @discardableResult public func seekToEnd() throws -> UInt64 { 0 }; public func seek(toOffset: UInt64) throws {}; public func write<T: DataProtocol>(contentsOf: T) throws {}; public func close() throws {} }
public protocol NSLocking { func lock(); func unlock() }
extension NSLocking { public func withLock<R>(_ body: () throws -> R) rethrows -> R { try body() } }
public class NSLock: NSObject, NSLocking, @unchecked Sendable { public func lock() {}; public func unlock() {} }
extension StringProtocol { public func components<T: StringProtocol>(separatedBy: T) -> [String] { [] } }
extension Date { public static func + (date: Date, interval: TimeInterval) -> Date { date } }
extension URL { public func appending<S: StringProtocol>(path: S, directoryHint: DirectoryHint = .inferFromPath) -> URL { self } }
extension String { public func write(to: URL, atomically: Bool, encoding: Encoding) throws {}; public init(contentsOf: URL, encoding: Encoding) throws { self = "" }; public init(contentsOfFile: String, encoding: Encoding) throws { self = "" } }
extension URL { public func host(percentEncoded: Bool = true) -> String? { nil }; public var pathExtension: String { "" }; public func deletingLastPathComponent() -> URL { self } }
public protocol DataProtocol: RandomAccessCollection where Element == UInt8 {}
extension Data: DataProtocol {}
extension Array: DataProtocol where Element == UInt8 {}
extension Data { public struct Base64EncodingOptions: OptionSet, Sendable { public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue } }
    public struct Base64DecodingOptions: OptionSet, Sendable { public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue } }
    public init?(base64Encoded: String, options: Base64DecodingOptions = []) { return nil }
    public func base64EncodedString(options: Base64EncodingOptions = []) -> String { "" }
    public struct ReadingOptions: OptionSet, Sendable { public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue } }
    public init(contentsOf: URL, options: ReadingOptions) throws {} }
public class NSDictionary: NSObject, @unchecked Sendable { public subscript(key: Any) -> Any? { nil } }
public class NSNumber: NSObject, @unchecked Sendable { public var intValue: Int { 0 }; public var int64Value: Int64 { 0 }; public var boolValue: Bool { false } }
public class JSONSerialization: NSObject { public struct WritingOptions: OptionSet, Sendable { public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue }; public static let prettyPrinted = WritingOptions(rawValue: 1), sortedKeys = WritingOptions(rawValue: 2), fragmentsAllowed = WritingOptions(rawValue: 4), withoutEscapingSlashes = WritingOptions(rawValue: 8) }
    public struct ReadingOptions: OptionSet, Sendable { public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue }; public static let fragmentsAllowed = ReadingOptions(rawValue: 4) }
    public class func jsonObject(with: Data, options: ReadingOptions = []) throws -> Any { 0 }; public class func data(withJSONObject: Any, options: WritingOptions = []) throws -> Data { Data() } }
public struct CharacterSet: Sendable { public static let whitespacesAndNewlines = CharacterSet(), whitespaces = CharacterSet(), newlines = CharacterSet(), urlQueryAllowed = CharacterSet(), urlPathAllowed = CharacterSet(), alphanumerics = CharacterSet() }
extension StringProtocol { public func trimmingCharacters(in: CharacterSet) -> String { "" }; public func replacingOccurrences<T: StringProtocol, R: StringProtocol>(of: T, with: R) -> String { "" }; public var removingPercentEncoding: String? { nil }; public func addingPercentEncoding(withAllowedCharacters: CharacterSet) -> String? { nil } }
extension FileAttributeKey { public static let size = FileAttributeKey(rawValue: ""), type = FileAttributeKey(rawValue: ""), systemFileNumber = FileAttributeKey(rawValue: "") }
extension FileManager { public class DirectoryEnumerator: NSObject, IteratorProtocol, Sequence { public func next() -> Any? { nil }; public var allObjects: [Any] { [] }; public func nextObject() -> Any? { nil }; public var fileAttributes: [FileAttributeKey: Any]? { nil } }
    public func enumerator(at: URL, includingPropertiesForKeys: [URLResourceKey]?) -> DirectoryEnumerator? { nil }; public func destinationOfSymbolicLink(atPath: String) throws -> String { "" }
    public func enumerator(atPath: String) -> DirectoryEnumerator? { nil }; public func copyItem(atPath: String, toPath: String) throws {}; public func moveItem(atPath: String, toPath: String) throws {}; public func subpathsOfDirectory(atPath: String) throws -> [String] { [] } }
public class PropertyListSerialization: NSObject { public struct MutabilityOptions: OptionSet, Sendable { public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue } }; public typealias ReadOptions = MutabilityOptions; public enum PropertyListFormat: UInt, Sendable { case openStep = 1, xml = 100, binary = 200 }
    public class func propertyList(from: Data, options: ReadOptions = [], format: UnsafeMutablePointer<PropertyListFormat>?) throws -> Any { 0 } }
public struct FileAttributeType: RawRepresentable, Hashable, Sendable { public let rawValue: String; public init(rawValue: String) { self.rawValue = rawValue }; public static let typeRegular = Self(rawValue: ""), typeDirectory = Self(rawValue: ""), typeSymbolicLink = Self(rawValue: "") }
extension FileManager { public func linkItem(atPath: String, toPath: String) throws {} }
public class Thread: NSObject, @unchecked Sendable { public class var current: Thread { fatalError() }; public class func sleep(forTimeInterval: TimeInterval) {}; public class var isMainThread: Bool { false } }
extension NSObject: Hashable { public static func == (left: NSObject, right: NSObject) -> Bool { left.isEqual(right) }; public func hash(into hasher: inout Hasher) { hasher.combine(hash) } }
