// A stand-in for the part of UIKit that the toolkit uses, after Apple's reference.
@_exported import Foundation
public struct UIBackgroundTaskIdentifier: Hashable, RawRepresentable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static let invalid = Self(rawValue: 0)
}
@MainActor open class UIApplication: NSObject {
    public enum State: Int, Sendable { case active, inactive, background }
    open var applicationState: State { .active }
    nonisolated open func beginBackgroundTask(
        withName name: String?, expirationHandler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier { .invalid }
    nonisolated open func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {}
    nonisolated public class var didEnterBackgroundNotification: Notification.Name { .init(rawValue: "") }
    nonisolated public class var willEnterForegroundNotification: Notification.Name { .init(rawValue: "") }
    nonisolated public class var didBecomeActiveNotification: Notification.Name { .init(rawValue: "") }
}
