// A stand-in for the part of Dispatch that the toolkit uses, with the shapes of Apple's overlay.
@_exported import Darwin

public protocol NSObjectProtocol: AnyObject {}
open class DispatchObject: @unchecked Sendable {
    public func activate() {}; public func resume() {}; public func suspend() {}
}
public struct DispatchTime: Comparable, Sendable {
    public let rawValue: UInt64
    public static func now() -> DispatchTime { fatalError() }
    public static let distantFuture = DispatchTime(uptimeNanoseconds: .max)
    public init(uptimeNanoseconds: UInt64) { rawValue = uptimeNanoseconds }
    public var uptimeNanoseconds: UInt64 { rawValue }
    public static func < (a: DispatchTime, b: DispatchTime) -> Bool { a.rawValue < b.rawValue }
}
public struct DispatchWallTime: Sendable {
    public static func now() -> DispatchWallTime { fatalError() }
}
public enum DispatchTimeInterval: Equatable, Sendable {
    case seconds(Int), milliseconds(Int), microseconds(Int), nanoseconds(Int), never
}
public func + (time: DispatchTime, interval: DispatchTimeInterval) -> DispatchTime { fatalError() }
public func + (time: DispatchTime, seconds: Double) -> DispatchTime { fatalError() }
public struct DispatchQoS: Equatable, Sendable {
    public static let background = DispatchQoS(), utility = DispatchQoS(),
        `default` = DispatchQoS(), userInitiated = DispatchQoS(), userInteractive = DispatchQoS(),
        unspecified = DispatchQoS()
    public enum QoSClass: Sendable {
        case background, utility, `default`, userInitiated, userInteractive, unspecified
    }
}
public struct DispatchWorkItemFlags: OptionSet, Sendable {
    public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue };
    public static let barrier = DispatchWorkItemFlags(rawValue: 1)
}
public class DispatchWorkItem: @unchecked Sendable {
    public init(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
        block: @escaping @convention(block) () -> Void
    ) {}; public func cancel() {}; public func perform() {}
}
public enum DispatchTimeoutResult { case success, timedOut }
public final class DispatchGroup: DispatchObject {
    public override init() {}; public func enter() {}; public func leave() {};
    public func wait() {};
    public func notify(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], queue: DispatchQueue,
        execute work: @escaping @Sendable @convention(block) () -> Void
    ) {}
}
public final class DispatchSemaphore: DispatchObject {
    public init(value: Int) {}; @discardableResult public func signal() -> Int { 0 };
    public func wait() {};
    public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { .success }
}
public final class DispatchSpecificKey<T>: @unchecked Sendable { public init() {} }
public final class DispatchQueue: DispatchObject {
    public struct Attributes: OptionSet, Sendable {
        public let rawValue: UInt64; public init(rawValue: UInt64) { self.rawValue = rawValue };
        public static let concurrent = Attributes(rawValue: 1),
            initiallyInactive = Attributes(rawValue: 2)
    }
    public enum AutoreleaseFrequency: Sendable { case inherit, workItem, never }
    public convenience init(
        label: String, qos: DispatchQoS = .unspecified, attributes: Attributes = [],
        autoreleaseFrequency: AutoreleaseFrequency = .inherit, target: DispatchQueue? = nil
    ) { self.init(0) }
    init(_ n: Int) {}
    public static let main = DispatchQueue(0)
    public static func global(qos: DispatchQoS.QoSClass = .default) -> DispatchQueue { main }
    @preconcurrency public func async(
        group: DispatchGroup? = nil, qos: DispatchQoS = .unspecified,
        flags: DispatchWorkItemFlags = [],
        execute work: @escaping @Sendable @convention(block) () -> Void
    ) {}
    public func async(execute workItem: DispatchWorkItem) {}
    @preconcurrency public func asyncAfter(
        deadline: DispatchTime, qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
        execute work: @escaping @Sendable @convention(block) () -> Void
    ) {}
    public func asyncAfter(deadline: DispatchTime, execute: DispatchWorkItem) {}
    public func sync<T>(execute work: () throws -> T) rethrows -> T { try work() }
    public func sync<T>(flags: DispatchWorkItemFlags, execute work: () throws -> T) rethrows -> T {
        try work()
    }
    @preconcurrency public class func concurrentPerform(
        iterations: Int, execute work: (Int) -> Void
    ) {}
    public func setSpecific<T>(key: DispatchSpecificKey<T>, value: T?) {}
    public class func getSpecific<T>(key: DispatchSpecificKey<T>) -> T? { nil }
    public var label: String { "" }
    public var qos: DispatchQoS { .unspecified }
}
public protocol DispatchSourceProtocol: NSObjectProtocol {
    func setEventHandler(
        qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: (@convention(block) () -> Void)?)
    func setCancelHandler(
        qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: (@convention(block) () -> Void)?)
    func setRegistrationHandler(
        qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: (@convention(block) () -> Void)?)
    func cancel(); func resume(); func suspend()
    var handle: UInt { get }; var mask: UInt { get }; var data: UInt { get };
    var isCancelled: Bool { get }
}
extension DispatchSourceProtocol {
    public func setEventHandler(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
        handler: (@convention(block) () -> Void)?
    ) {}
    public func setCancelHandler(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
        handler: (@convention(block) () -> Void)?
    ) {}
    public func setRegistrationHandler(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
        handler: (@convention(block) () -> Void)?
    ) {}
    public func activate() {}
}
public protocol DispatchSourceRead: DispatchSourceProtocol {}
public protocol DispatchSourceWrite: DispatchSourceProtocol {}
public protocol DispatchSourceSignal: DispatchSourceProtocol {}
public protocol DispatchSourceTimer: DispatchSourceProtocol {}
extension DispatchSourceTimer {
    public func schedule(
        deadline: DispatchTime, repeating interval: DispatchTimeInterval = .never,
        leeway: DispatchTimeInterval = .nanoseconds(0)
    ) {}
}
public class DispatchSource: DispatchObject, DispatchSourceRead, DispatchSourceWrite,
    DispatchSourceSignal, DispatchSourceTimer
{
    public func setEventHandler(
        qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: (@convention(block) () -> Void)?
    ) {}
    public func setCancelHandler(
        qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: (@convention(block) () -> Void)?
    ) {}
    public func setRegistrationHandler(
        qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: (@convention(block) () -> Void)?
    ) {}
    public func cancel() {}
    public var handle: UInt { 0 }; public var mask: UInt { 0 }; public var data: UInt { 0 };
    public var isCancelled: Bool { false }
    public struct TimerFlags: OptionSet, Sendable {
        public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue }
    }
    public class func makeReadSource(fileDescriptor: Int32, queue: DispatchQueue? = nil)
        -> any DispatchSourceRead
    { fatalError() }
    public class func makeWriteSource(fileDescriptor: Int32, queue: DispatchQueue? = nil)
        -> any DispatchSourceWrite
    { fatalError() }
    public class func makeSignalSource(signal: Int32, queue: DispatchQueue? = nil)
        -> any DispatchSourceSignal
    { fatalError() }
    public class func makeTimerSource(flags: TimerFlags = [], queue: DispatchQueue? = nil)
        -> any DispatchSourceTimer
    { fatalError() }
}
public func dispatchMain() -> Never { fatalError() }
public func dispatchPrecondition(condition: @autoclosure () -> Int) {}
