import Foundation
import TestSupport
import Testing

/// WebDAV clients of other projects. With `WEBDAV_LARGE` in the environment, rclone copies 1,000
/// files and one of 1 GiB; without it the files are fewer and smaller.
@Suite("Clients of WebDAV", .fewAtOnce, .overTLSToo)
struct WebDAVClientTests {
    @Test func rcloneCopiesAndChecksWithTimes() async throws {
        let isLarge = ProcessInfo.processInfo.environment["WEBDAV_LARGE"] != nil
        let (share, place) = (try Folder(), try Folder())
        let times = Date(timeIntervalSince1970: 1_000_000_000)
        for number in 0..<(isLarge ? 1_000 : 200) {
            let name = "in/d\(number % 7)/f ä\(number).bin"
            try place.write([UInt8].noise(number * 37, seed: UInt64(number)), to: name)
            try FileManager.default.setAttributes(
                [.modificationDate: times + Double(number)], ofItemAtPath: place.file(name).path)
        }
        let script = "head -c \(isLarge ? 1 << 30 : 5 << 20) /dev/urandom > in/large.bin"
        #expect(try await Program.run("sh", ["-c", script], folder: place.path).status == 0)
        let server = try await ServeProcess(share, ["--webdav", "/dav"])
        let remote = ":webdav,url='\(server.url("/dav/"))',vendor=owncloud:"
        func rclone(_ arguments: String...) async throws -> Program.Result {
            try await Program.run(
                "rclone", ["--config", place.path + "/none", "--contimeout", "60s"] + arguments,
                limit: .seconds(isLarge ? 900 : 300))
        }
        let copied = try await rclone("copy", place.path + "/in", remote + "sub")
        #expect(copied.status == 0, "\(copied.complaints)")
        let checked = try await rclone("check", "--download", place.path + "/in", remote + "sub")
        #expect(checked.status == 0, "\(checked.complaints)")
        #expect(checked.complaints.contains("0 differences found"))
        // The server stores the hashes that rclone sends, so no download is needed.
        let hashed = try await rclone("check", place.path + "/in", remote + "sub")
        #expect(hashed.status == 0, "\(hashed.complaints)")
        #expect(!hashed.complaints.contains("could not be checked"), "\(hashed.complaints)")
        let file = share.file("sub/d5/f ä12.bin").path
        let date = try FileManager.default.attributesOfItem(atPath: file)[.modificationDate]
        let seconds = (date as? Date)?.timeIntervalSince1970 ?? 0
        #expect(Int(seconds) == 1_000_000_012)
        // The times were transferred, so no file is copied again.
        let again = try await rclone("sync", "-v", place.path + "/in", remote + "sub")
        #expect(again.status == 0 && !again.complaints.contains("Copied"), "\(again.complaints)")
        try FileManager.default.removeItem(atPath: place.path + "/in/d3")
        #expect(try await rclone("sync", place.path + "/in", remote + "sub").status == 0)
        #expect(!FileManager.default.fileExists(atPath: share.path + "/sub/d3"))
        #expect(try await rclone("moveto", remote + "sub/large.bin", remote + "big").status == 0)
        let compared = try await Program.run(
            "cmp", [place.path + "/in/large.bin", share.path + "/big"])
        #expect(compared.status == 0, "\(compared.text)")
    }

    /// lftp sends HEAD to find out whether a path is a folder.
    @Test func lftpWritesIntoTheFolder() async throws {
        let (share, place) = (try Folder(), try Folder())
        try share.write("of the parent", to: "report.txt")
        try share.write("", to: "sub/other")
        try place.write("new", to: "report.txt")
        for flags in [[], ["--no-listing"]] {
            let server = try await ServeProcess(share, ["--webdav", "/dav"] + flags)
            try? FileManager.default.removeItem(atPath: share.path + "/sub/report.txt")
            let script = """
                set net:max-retries 2; set net:timeout 30
                set ssl:ca-file \(TestTLS.current?.authority ?? "")
                open \(server.url("/dav/")); cd sub; put report.txt; exit
                """
            let result = try await Program.run(
                "lftp", ["--norc", "-c", script], environment: ["HOME": place.path],
                folder: place.path)
            #expect(result.status == 0, "\(result.text)\(result.complaints)")
            #expect(share.text("sub/report.txt") == "new", "\(flags)")
            #expect(share.text("report.txt") == "of the parent", "\(flags)")
        }
    }

    @Test func aPythonLibraryWorks() async throws {
        let (share, place) = (try Folder(), try Folder())
        let server = try await ServeProcess(share, ["--webdav", "/dav"])
        try place.write("content", to: "local")
        let script = """
            import sys
            from webdav3.client import Client
            client = Client({'webdav_hostname': sys.argv[1], 'webdav_root': '/dav/'})
            client.mkdir('a folder')
            client.upload_sync(remote_path='a folder/x ä.txt', local_path='local')
            assert client.list('a folder') == ['x ä.txt'], client.list('a folder')
            info = client.info('a folder/x ä.txt')
            assert info['size'] == '7' and info['etag'], info
            assert client.is_dir('a folder') and not client.is_dir('a folder/x ä.txt')
            client.copy('a folder/x ä.txt', 'a folder/y.txt')
            client.move('a folder/y.txt', 'a folder/z.txt', overwrite=True)
            option = {'namespace': 'urn:t', 'name': 'colour', 'value': 'blue'}
            client.set_property('a folder/z.txt', option)
            assert client.get_property('a folder/z.txt', option) == 'blue'
            assert int(client.free()) > 0
            client.download_sync('a folder/z.txt', 'back')
            assert open('back').read() == 'content'
            client.clean('a folder/x ä.txt')
            assert not client.check('a folder/x ä.txt') and client.check('a folder/z.txt')
            """
        let result = try await Program.run(
            try await Program.python(having: "webdav3.client"),
            ["-c", script, server.url("")], folder: place.path)
        #expect(result.status == 0, "\(result.text)\(result.complaints)")
        #expect(share.text("a folder/z.txt") == "content")
    }

    private func visibleNames(_ share: Folder) throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: share.path)
        return names.filter { !$0.hasPrefix(".") }
    }

    #if os(Linux)
        /// The client of GNOME, with a separate session bus.
        @Test func gnomeWorks() async throws {
            // It trusts only the authorities of the system.
            guard TestTLS.current == nil else { return }
            let (share, home) = (try Folder(), try Folder())
            try share.write("hello", to: "a.txt")
            try home.write("content", to: "local")
            let server = try await ServeProcess(share, ["--webdav", "/some/dav"])
            let script = """
                set -e
                gio mount "$1"
                gio list "$1" > list
                gio cat "$1/a.txt" > back
                gio mkdir "$1/Untitled"
                gio move "$1/Untitled" "$1/folder"
                gio copy local "$1/folder/copied ä"
                gio rename "$1/folder/copied ä" renamed
                gio info "$1/folder/renamed" > info
                gio remove "$1/a.txt"
                gio mount -u "$1"
                """
            let address = "dav://127.0.0.1:\(server.port)/some/dav"
            let result = try await Program.run(
                "dbus-run-session", ["--", "sh", "-c", script, "sh", address],
                environment: [
                    "HOME": home.path, "XDG_RUNTIME_DIR": home.path, "GVFS_DISABLE_FUSE": "1",
                ],
                folder: home.path)
            #expect(result.status == 0, "\(result.text)\(result.complaints)")
            #expect(home.text("list") == "a.txt\n" && home.text("back") == "hello")
            #expect(home.text("info").contains("standard::size: 7"))
            #expect(share.text("folder/renamed") == "content")
            #expect(try visibleNames(share) == ["folder"])
        }

        /// Whether davfs2 should mount a file system: root may do so if /dev/fuse exists and its
        /// old interface matches the kernel, which cannot be checked in advance.
        private static let mounts = ProcessInfo.processInfo.environment["WEBDAV_DAVFS2"] != nil

        /// davfs2 locks files, sends tagged If fields and reads changes by entity tags. The test
        /// does not read directories, because its old interface does not allow that with new
        /// kernels.
        @Test(.enabled(if: mounts, "WEBDAV_DAVFS2=1 has davfs2 mount a file system"))
        func davfs2Works() async throws {
            guard TestTLS.current == nil else { return }
            let (share, place) = (try Folder(), try Folder())
            try share.write("hello", to: "a.txt")
            let content = [UInt8].noise(700_000, seed: 3)
            try place.write(content, to: "local")
            let settings = """
                use_locks 1
                ask_auth 0
                delay_upload 0
                cache_dir \(place.path)/cache

                """
            try place.write(settings, to: "settings")
            let server = try await ServeProcess(share, ["--webdav", "/dav"])
            // davfs2 drops its privileges, and writes its cache as another user.
            let script = """
                set -e
                chmod 755 .; mkdir m cache; chmod 777 cache
                mount.davfs -o conf="$PWD/settings" "$1" m < /dev/null
                trap 'umount m' EXIT
                cat m/a.txt > back
                cp local m/copied
                mkdir m/folder
                mv m/copied m/folder/moved
                rm m/a.txt
                printf more >> m/folder/moved
                umount m
                trap - EXIT
                """
            let result = try await Program.run(
                "unshare", ["--mount", "sh", "-c", script, "sh", server.url("/dav/")],
                folder: place.path)
            #expect(result.status == 0, "\(result.text)\(result.complaints)")
            #expect(place.text("back") == "hello")
            // For long arrays the test library would search for every difference.
            let isWhole = share.bytes("folder/moved") == content + Array("more".utf8)
            #expect(isWhole)
            #expect(try visibleNames(share) == ["folder"])
        }
    #endif
}
