#if canImport(UIKit) && !os(watchOS)
    internal import Foundation
    public import HTTPServerCore
    public import UIKit

    extension BackgroundSupervisor {
        /// Follows the policy for an app, with its background tasks and notifications.
        ///
        /// The application is a parameter, so that this can be linked into app extensions, which
        /// have no `UIApplication.shared`.
        /// - Parameters:
        ///   - server: the server.
        ///   - application: `UIApplication.shared`.
        /// - Returns: the supervisor, which works only while it is retained, and the observers to
        ///   remove from the default notification center afterwards.
        @MainActor
        public static func following(
            _ application: UIApplication, for server: HTTPServer
        ) -> (BackgroundSupervisor, [any NSObjectProtocol]) {
            let supervisor = BackgroundSupervisor(
                server, isInBackground: application.applicationState == .background,
                tasks: Tasks { expired in
                    await MainActor.run {
                        let task = application.beginBackgroundTask(
                            withName: "HTTP server", expirationHandler: expired)
                        return task == .invalid ? nil : task.rawValue
                    }
                } end: { task in
                    await MainActor.run {
                        application.endBackgroundTask(UIBackgroundTaskIdentifier(rawValue: task))
                    }
                })
            let inputs: [(Notification.Name, BackgroundPolicy.Input)] = [
                (UIApplication.didEnterBackgroundNotification, .enteredBackground),
                (UIApplication.willEnterForegroundNotification, .willEnterForeground),
                (UIApplication.didBecomeActiveNotification, .becameActive),
            ]
            let observers = inputs.map { name, input in
                NotificationCenter.default.addObserver(
                    forName: name, object: application, queue: nil
                ) { [weak supervisor] _ in supervisor?.handle(input) }
            }
            return (supervisor, observers)
        }
    }
#endif
