#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    /// Servers with file systems of their own, in a new mount namespace (mount_namespaces(7)):
    /// nothing of the machine's own changes.
    enum MountedServer {
        /// Why tests are left out.
        static let reason: Comment = "this user may not have mount namespaces here"

        /// Whether this user may have one: root may, others where the system lets them have user
        /// namespaces. A missing tool does not count; the test that needs it says so.
        static func isAllowed() async -> Bool {
            let script = "mount -t tmpfs none /mnt"
            guard let result = try? await Program.run("unshare", options + ["sh", "-c", script])
            else { return true }
            return result.status == 0
        }

        /// The options of unshare(1) for it.
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
