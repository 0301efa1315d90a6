#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    /// Servers with separate file systems, in a new mount namespace (mount_namespaces(7)), so that
    /// those of the machine do not change.
    enum MountedServer {
        /// The reason for skipping tests.
        static let reason: Comment = "this user may not have mount namespaces here"

        /// Whether this user may create one: root may, and others if the system allows them user
        /// namespaces. A missing tool does not count; the test that needs it reports it.
        static func isAllowed() async -> Bool {
            let script = "mount -t tmpfs none /mnt"
            guard let result = try? await Program.run("unshare", options + ["sh", "-c", script])
            else { return true }
            return result.status == 0
        }

        /// The options of unshare(1) for a mount namespace.
        static var options: [String] {
            (geteuid() == 0 ? [] : ["--user", "--map-root-user"]) + ["--mount"]
        }

        /// Starts `httpkit serve`.
        /// - Parameter preparation: commands of the shell, with the directory as `$D`.
        static func start(
            _ folder: Folder, _ flags: [String] = [], preparation: String
        ) async throws -> ServeProcess {
            let script = "set -e; D='\(folder.path)'; \(preparation); exec \"$0\" \"$@\""
            return try await ServeProcess(
                folder, ["--webdav", "/dav"] + flags,
                by: ["unshare"] + options + ["sh", "-c", script])
        }
    }
#endif
