internal import HTTPServerCore
internal import ToolkitSystem

/// A program that runs while the test continues. It is killed when this object is released; a
/// separate thread waits for its end.
package final class RunningProgram: Sendable {
    private let child: ChildProcess
    private let streams: ProgramStreams
    private let overdue = Locked("")

    /// Starts a program; the parameters are those of `Program.run`.
    /// - Parameters:
    ///   - errors: an open file for standard error, instead of `complaints`. The caller closes
    ///     it.
    ///   - isGroup: whether it leads a separate process group, all of which is killed at its
    ///     end. Otherwise a signal from the terminal ends it together with the tests.
    package init(
        _ program: String, _ arguments: [String], input: [UInt8] = [],
        environment: [String: String]? = nil, folder: String? = nil, errors: CInt? = nil,
        isGroup: Bool = false
    ) throws {
        let path = program.contains("/") ? program : try Program.find(program)
        let variables = (TestTLS.current?.environment ?? [:])
            .merging(environment ?? [:]) { _, own in own }
        streams = try ProgramStreams(input: input)
        child = try ChildProcess(
            path, arguments, streams: streams, errors: errors, environment: variables,
            folder: folder, isGroup: isGroup)
    }

    deinit { child.kill() }

    /// Its process identifier.
    package var pid: CInt { child.pid }

    /// Whether it has not ended yet.
    package var isRunning: Bool { child.status == nil }

    /// Its standard output so far.
    package var output: [UInt8] { streams.output.bytes() }

    /// Its standard output so far, as text.
    package var text: String { String(decoding: output, as: UTF8.self) }

    /// Its standard error so far.
    package var complaints: String {
        String(decoding: streams.complaints.bytes(), as: UTF8.self) + overdue.withLock { $0 }
    }

    /// Sends it a signal, unless it has ended.
    package func signal(_ number: CInt) { child.signal(number) }

    /// Waits for its end, and kills it when the time is up or the task is cancelled.
    /// - Returns: the exit status, or minus the signal's number.
    package func end(limit: Duration = .seconds(120)) async -> CInt {
        let alarm = Task { [child, overdue] in
            guard (try? await Task.sleep(for: limit)) != nil, child.status == nil else { return }
            overdue.withLock { $0 = "\n(killed: it ran for more than \(limit))\n" }
            child.kill()
        }
        defer { alarm.cancel() }
        return await withTaskCancellationHandler {
            await child.end()
        } onCancel: {
            child.kill()
        }
    }

    /// Waits until a condition holds, such as one on its output.
    /// - Returns: whether it held before the program ended and before the time was up.
    package func wait(
        limit: Duration = .seconds(60), until isMet: (RunningProgram) -> Bool
    ) async -> Bool {
        let end = ContinuousClock.now + limit
        while !isMet(self) {
            // Output that was written just before the end counts.
            guard isRunning else { return isMet(self) }
            guard ContinuousClock.now < end else { return false }
            guard (try? await Task.sleep(for: .milliseconds(3))) != nil else { return false }
        }
        return true
    }
}
