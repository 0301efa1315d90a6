internal import HTTPServerCore
internal import ToolkitSystem

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Programs that the tests run to their end.
package enum Program {
    /// The result of a program.
    package struct Result: Sendable {
        /// The exit status, or minus the number of the signal that ended it.
        package var status: CInt
        /// The bytes of its standard output.
        package var output: [UInt8]
        /// The text of its standard error; the last line says if it ran too long.
        package var complaints: String

        /// Its standard output as text.
        package var text: String { String(decoding: output, as: UTF8.self) }
    }

    /// A program that is not installed. The error names the command that installs it.
    package struct Missing: Error, CustomStringConvertible {
        package var tool: String

        package init(tool: String) { self.tool = tool }

        package var description: String {
            "\(tool) is missing; `Scripts/bootstrap \(FullSuite.isOn ? "test-all" : "test")` installs it"
        }
    }

    /// A program that is installed, but cannot be started or fails.
    package struct Failure: Error, CustomStringConvertible {
        package var description: String

        package init(_ description: String) { self.description = description }
    }

    /// The path of the first of these programs on PATH.
    package static func find(_ names: String...) throws -> String {
        let path = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? "/usr/bin:/bin"
        // Some users' PATH lacks the folders of administration tools.
        let folders = "\(path):/usr/sbin:/sbin".split(separator: ":")
        for name in names {
            try FullSuite.admit(name)
            for folder in folders {
                let file = "\(folder)/\(name)"
                if isProgram(file) { return file }
            }
        }
        throw Missing(tool: names.joined(separator: " or "))
    }

    private static func isProgram(_ file: String) -> Bool {
        var status = stat()
        guard unsafe stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return false
        }
        return unsafe access(file, X_OK) == 0
    }

    private static let pythons = Locked<[String: String]>([:])

    /// The path of a Python that has a module. Modules of the distribution belong to the system's
    /// Python, which need not be the first on PATH.
    package static func python(having module: String) async throws -> String {
        try FullSuite.admit(module)
        if let known = pythons.withLock({ $0[module] }) { return known }
        for python in [try? find("python3"), "/usr/bin/python3"] {
            guard let python, isProgram(python) else { continue }
            guard try await run(python, ["-c", "import \(module)"]).status == 0 else { continue }
            pythons.withLock { $0[module] = python }
            return python
        }
        throw Missing(tool: "python3 with the module \(module)")
    }

    /// Runs a program to its end, and kills it and its descendants when that takes too long or the
    /// test's task is cancelled. Its descendants end with it, except in another process group.
    /// - Parameters:
    ///   - program: a path, or a name that is searched on PATH.
    ///   - input: the bytes of its standard input.
    ///   - environment: variables that are added to those of the tests, or replace them.
    ///   - folder: its working folder, if it differs from that of the tests.
    package static func run(
        _ program: String, _ arguments: [String], input: [UInt8] = [],
        environment: [String: String]? = nil, folder: String? = nil,
        limit: Duration = .seconds(120)
    ) async throws -> Result {
        let running = try RunningProgram(
            program, arguments, input: input, environment: environment, folder: folder,
            isGroup: true)
        let status = await running.end(limit: limit)
        return Result(status: status, output: running.output, complaints: running.complaints)
    }
}
