#if canImport(UIKit) && !os(watchOS)
    internal import Foundation
    public import HTTPServerCore
    public import UIKit

    extension BackgroundSupervisor {
        /// Follows the policy for an app, with its background tasks and notifications.
        ///
        /// The application is given, not asked for, so that this can be linked into app
        /// extensions.
        /// - Parameters:
        ///   - server: the server.
        ///   - application: `UIApplication.shared`.
        /// - Returns: the supervisor, to be kept as long as it is to work, and the observers to
        ///   remove from the default notification center after that.
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
