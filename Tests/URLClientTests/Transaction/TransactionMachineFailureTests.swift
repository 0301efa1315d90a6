import HTTPCodecs
import HTTPParser
import Testing
import URLClient

@Suite("The state machine of a task: failures, limits, suspension")
struct TransactionMachineFailureTests {
    @Test(
        "RFC 9110, 9.2.2: a request is sent again only if that is safe",
        arguments: [
            (HTTPMethod.get, ClientError.Kind.connectionLost, false, true),
            (.put, .emptyResponse, false, true), (.post, .connectionLost, false, false),
            (.post, .connectionLost, true, true), (.get, .badResponse, false, false),
            (.get, .cannotConnect, true, false), (.get, .timedOut(.idle), false, false),
        ])
    func retries(
        _ method: HTTPMethod, _ kind: ClientError.Kind, _ isSafe: Bool, _ isRetried: Bool
    ) {
        var script = MachineScript(method, "http://a.example/", .scripted())
        script.fail(kind, isSafeToRetry: isSafe)
        #expect(script.sent.count == (isRetried ? 2 : 1))
        script.fail(kind, isSafeToRetry: isSafe)
        #expect(script.sent.count == (isRetried ? 2 : 1) && script.machine.isOver)
    }

    @Test("A retry is delayed, and one-shot content is not sent again")
    func delays() {
        var script = MachineScript()
        script.fail(.connectionLost)
        #expect(script.log.last == "ask delay")
        script.answer(.done)
        #expect(script.log.last == "send GET http://a.example/")
        let once = ClientBody.stream(AsyncStream<[UInt8]> { $0.finish() }, length: 1)
        var other = MachineScript(.put, body: once)
        other.fail(.connectionLost)
        #expect(other.log.last == "fail connectionLost")
    }

    @Test("After a redirect, a failed POST is not safe to send again")
    func afterRedirect() {
        var script = MachineScript(.post, body: .bytes([1]))
        script.respond(.temporaryRedirect, [.location: "/next"])
        script.fail(.badResponse, isSafeToRetry: true)
        #expect(script.error?.isSafeToRetry == false)
    }

    @Test("417: the request is sent again without Expect if its content can be sent again")
    func expectation() {
        var facts = HeadFacts()
        facts.hasExpectation = true
        var script = MachineScript(.put, body: .bytes([1]))
        script.head(.expectationFailed, facts: facts)
        #expect(script.log.last == "stop reading")
        script.fail(.internalFailure)
        #expect(script.sent.count == 2 && script.sent.last?.expectation == .never)
        let once = ClientBody.stream(AsyncStream<[UInt8]> { $0.finish() }, length: 1)
        var other = MachineScript(.put, body: once)
        facts.sentBytes = 1
        other.head(.expectationFailed, facts: facts)
        #expect(other.log.suffix(2) == ["abort bodyNotReplayable", "fail bodyNotReplayable"])
    }

    @Test(
        "A failure in discarded content does not change the next step",
        arguments: [
            ClientError.Kind.timedOut(.idle), .connectionLost, .truncated, .internalFailure,
        ])
    func discardedContent(_ kind: ClientError.Kind) {
        var script = MachineScript()
        script.head(.found, [.location: "/next"])
        script.fail(kind)
        #expect(script.log.suffix(2) == ["discard", "send GET http://a.example/next"])
        script.respond(.ok)
        #expect(script.log.last == "done" && script.error == nil)
    }

    // MARK: endpoints

    @Test("The next endpoint is tried while no server can have seen the request")
    func endpoints() {
        let policy = EndpointPolicy(attempts: 2) { _, _ in [] }
        var script = MachineScript(
            .post, "http://a.example/", .scripted { $0.endpoints = policy })
        #expect(script.log == ["ask endpoints 0"])
        let targets = [ConnectTarget(port: 1), ConnectTarget(port: 2)]
        script.answer(.endpoints(.success(targets)))
        script.fail(.cannotConnect, isSafeToRetry: true)
        #expect(script.sent.count == 2)
        script.fail(.cannotConnect, isSafeToRetry: true)
        #expect(script.log.last == "ask endpoints 1")
        script.answer(.endpoints(.success([ConnectTarget(port: 3)])))
        #expect(script.sent.count == 3)
        script.fail(.connectionLost)
        #expect(script.log.last == "fail connectionLost")
    }

    // MARK: downloads

    private var resumeData: ResumeData {
        ResumeData(
            url: ClientRequest(.get, "http://a.example/").url, partialPath: "/none", offset: 5,
            validator: "\"x\"", expectedLength: 9)
    }

    @Test("A download waits longer before each continuation, but not after progress")
    func waits() {
        // The script's random number makes each wait half as long as its maximum.
        let configuration = ClientConfiguration.scripted {
            $0.retries.firstDelay = .seconds(2)
            $0.downloadContinuations = 6
        }
        var script = MachineScript(
            ClientRequest(.get, "http://a.example/"), configuration, isDownload: true)
        script.head(.ok)
        for offset: Int64 in [5, 6] {
            var data = resumeData
            data.offset = offset
            let state = DownloadState(isOpen: true, offset: offset, resumeData: data)
            var waits: [Duration] = []
            for _ in 0..<6 {
                script.fail(.cannotConnect, state)
                if case .ask(.delay(let wait), _) = script.lastAction {
                    waits.append(wait)
                    script.answer(.done)
                }
                #expect(script.log.last == "send GET http://a.example/")
            }
            #expect(waits == [1, 2, 4, 5, 5].map { .seconds($0) })
        }
        let last = DownloadState(isOpen: true, offset: 6, resumeData: resumeData)
        script.fail(.cannotConnect, last)
        #expect(script.log.last == "fail cannotConnect")
    }

    @Test("A download requests the rest after a lost connection, up to the limit without progress")
    func continuation() {
        let configuration = ClientConfiguration.scripted {
            $0.retries.firstDelay = .milliseconds(100)
            $0.downloadContinuations = 3
        }
        var script = MachineScript(
            ClientRequest(.get, "http://a.example/"), configuration, isDownload: true)
        script.head(.ok)
        let state = DownloadState(isOpen: true, offset: 5, resumeData: resumeData)
        script.fail(.connectionLost, state)
        #expect(script.log.suffix(2) == ["continue at 5", "send GET http://a.example/"])
        #expect(script.sent.last?.fields[.range] == "bytes=5-")
        #expect(script.sent.last?.fields[.ifRange] == "\"x\"")
        for _ in 0..<2 {
            script.fail(.connectionLost, state)
            #expect(script.log.suffix(2) == ["continue at 5", "ask delay"])
            script.answer(.done)
        }
        script.fail(.badResponse, state)
        #expect(script.log.last == "fail badResponse")
    }

    @Test(
        "416 for the rest: the file is complete, or the download starts again", arguments: [9, 12])
    func rangeNotSatisfiable(_ length: Int) {
        var request = ClientRequest(.get, "http://a.example/")
        request.fields[.range] = "bytes=9-"
        request.fields[.ifRange] = "\"x\""
        var script = MachineScript(request, isDownload: true)
        var facts = HeadFacts()
        facts.continuation = resumeData
        facts.continuation?.offset = 9
        script.head(.rangeNotSatisfiable, [.contentRange: "bytes */\(length)"], facts: facts)
        script.end()
        if length == 9 {
            #expect(script.log.suffix(3) == ["discard", "accept file", "done"])
        } else {
            #expect(script.log.last == "send GET http://a.example/")
            #expect(script.sent.last?.fields[.range] == nil)
        }
    }

    @Test("206 with another validator: the download starts again")
    func outdatedPart() {
        var request = ClientRequest(.get, "http://a.example/")
        request.fields[.range] = "bytes=5-"
        var script = MachineScript(request, isDownload: true)
        var facts = HeadFacts()
        facts.continuation = resumeData
        script.head(
            .partialContent, [.contentRange: "bytes 5-8/9", .eTag: "\"y\""], facts: facts)
        script.end()
        #expect(script.sent.count == 2 && script.sent.last?.fields[.range] == nil)
    }

    // MARK: cancelling

    @Test(
        "A task can be cancelled in each state",
        arguments: ["queued", "sent", "asked", "delivering", "discarding", "delayed", "parked"])
    func cancelling(_ state: String) {
        var script = MachineScript(hasDelegate: state == "asked")
        switch state {
        case "queued", "parked":
            script.fail(.connectionLost)
            script.isAdmitted = false
            if state == "parked" { script.feed(.suspended) }
            script.answer(.done)
            #expect(state == "parked" || script.log.last == "enqueue")
        case "asked", "discarding": script.head(.found, [.location: "/next"])
        case "delivering": script.head(.ok)
        case "delayed": script.fail(.connectionLost)
        default: break
        }
        _ = script.transcript()
        script.feed(.cancelled)
        #expect(script.log == ["stop cancelled", "fail cancelled"])
        script.answer(.redirect(nil))
        script.end()
        #expect(script.log.count == 2)
    }

    @Test("An answer to an older question is ignored")
    func lateAnswers() {
        var script = MachineScript(hasDelegate: true)
        script.head(.found, [.location: "/next"])
        script.answer(.redirect(nil))
        #expect(script.log.last == "ask disposition")
        script.answerLate(.redirect(nil))
        #expect(script.log.last == "ask disposition")
    }

    // MARK: suspension

    @Test("A suspended task leaves the queue, and is sent after it is resumed")
    func suspendedInQueue() {
        var script = MachineScript()
        script.fail(.connectionLost)
        script.isAdmitted = false
        script.answer(.done)
        _ = script.transcript()
        script.feed(.suspended)
        script.feed(.admitted)
        #expect(script.transcript() == ["leave queue"])
        script.isAdmitted = true
        script.feed(.resumed)
        #expect(script.log == ["send GET http://a.example/"])
    }

    @Test("A suspended task pauses both directions; a transport's content waits for the resume")
    func suspendedWhileSending() {
        var script = MachineScript()
        script.feed(.suspended)
        #expect(script.machine.pausesReceiving && script.machine.pausesSending)
        script.feed(.resumed)
        #expect(!script.machine.pausesReceiving && !script.machine.pausesSending)
        let transport = ClientTransport { CollectedResponse(to: $0) }
        var other = MachineScript(configuration: .scripted { $0.transport = transport })
        other.feed(.suspended)
        other.answer(.exchange(.success(CollectedResponse(to: other.machine.sent))))
        #expect(other.log.last == "deliver 200")
        other.feed(.resumed)
        #expect(other.log.suffix(2) == ["pour", "done"])
    }

    @Test("A slow reader pauses receiving only")
    func slowReader() {
        var script = MachineScript()
        script.head(.ok)
        script.machine.pause(.reader)
        #expect(script.machine.pausesReceiving && !script.machine.pausesSending)
        script.feed(.released(.reader))
        #expect(!script.machine.pausesReceiving)
    }
}

@Suite("The state machine of a task: timeouts")
struct TransactionMachineTimeTests {
    private static let second: Int64 = 1_000_000_000

    private static var limits: ClientConfiguration {
        .scripted {
            $0.timeouts = ClientTimeouts(
                queue: .seconds(5), connect: .seconds(2), tls: .seconds(1), firstByte: .seconds(4),
                idle: .seconds(3), total: .seconds(20))
        }
    }

    private func wait(_ action: TransactionAction) -> Int? {
        if case .wait(let time) = action { Int(time / Self.second) } else { nil }
    }

    @Test(
        "The next deadline depends on the stage of the transfer",
        arguments: [
            (TransferProgressTimes.Stage.connecting, 2), (.securing(since: 1_000_000_000), 2),
            (.waiting(since: 0), 3), (.transferring, 3),
        ])
    func stages(_ stage: TransferProgressTimes.Stage, _ expected: Int) {
        var script = MachineScript(configuration: Self.limits)
        script.feed(.time(TransferProgressTimes(start: 0, stage: stage, lastActivity: 0)))
        #expect(wait(script.lastAction) == expected)
    }

    @Test("A paused transfer has no idle timeout, and a suspended task only the total timeout")
    func paused() {
        var script = MachineScript(configuration: Self.limits)
        let times = TransferProgressTimes(
            start: 0, stage: .transferring, lastActivity: 0, isPaused: true)
        script.feed(.time(times))
        #expect(wait(script.lastAction) == 20)
        script.feed(.suspended)
        script.feed(.time(TransferProgressTimes(start: 0, stage: .connecting, lastActivity: 0)))
        #expect(wait(script.lastAction) == 20)
    }

    @Test("A deadline that has passed ends the transaction")
    func expired() {
        var script = MachineScript(configuration: Self.limits)
        script.now = 2 * Self.second
        script.feed(.time(TransferProgressTimes(start: 0, stage: .connecting, lastActivity: 0)))
        #expect(
            script.log.suffix(2) == [
                "stop timedOut(URLClient.ClientTimeouts.Limit.connect)",
                "fail timedOut(URLClient.ClientTimeouts.Limit.connect)",
            ])
        #expect(script.error?.curlCode == 28)
    }

    @Test(
        "A redirect whose content stalls is followed at the idle timeout, not at the total timeout",
        arguments: [(Int64(3), Int64(0), true), (20, 19, false)])
    func discarding(_ now: Int64, _ lastActivity: Int64, _ isFollowed: Bool) {
        var script = MachineScript(configuration: Self.limits)
        script.head(.found, [.location: "/next"])
        script.now = now * Self.second
        script.feed(
            .time(
                TransferProgressTimes(
                    start: 0, stage: .transferring, lastActivity: lastActivity * Self.second)))
        #expect(script.sent.count == (isFollowed ? 2 : 1))
        let kind: ClientError.Kind? = isFollowed ? nil : .timedOut(.total)
        #expect(script.error?.kind == kind)
    }

    @Test(
        "A silent delegate ends the task at the idle timeout, counted from the end of a suspension")
    func silentDelegate() {
        var script = MachineScript(.get, "http://a.example/", Self.limits, hasDelegate: true)
        script.head(.found, [.location: "/next"])
        script.feed(.time(nil))
        #expect(wait(script.lastAction) == 3)
        script.feed(.suspended)
        script.now = 10 * Self.second
        script.feed(.resumed)
        script.feed(.time(nil))
        #expect(wait(script.lastAction) == 13)
        script.now = 13 * Self.second
        script.feed(.time(nil))
        #expect(script.error?.kind == .timedOut(.idle))
    }

    @Test("The queue and the endpoint policy have timeouts")
    func others() {
        var script = MachineScript(configuration: Self.limits)
        script.isAdmitted = false
        script.fail(.connectionLost)
        script.feed(.time(nil))
        #expect(wait(script.lastAction) == 5)
        script.now = 5 * Self.second
        script.feed(.time(nil))
        #expect(script.error?.kind == .timedOut(.queue) && script.error?.phase == .queued)
        var configuration = Self.limits
        configuration.endpoints = EndpointPolicy { _, _ in [] }
        var other = MachineScript(configuration: configuration)
        other.now = 2 * Self.second
        other.feed(.time(nil))
        #expect(other.error?.kind == .timedOut(.connect) && other.error?.phase == .resolving)
        #expect(other.error?.isSafeToRetry == true)
    }
}
