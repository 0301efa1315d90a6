import HTTPServerCore
import HTTPServerDiscovery
import Testing

@Suite("Background policy: decisions")
struct BackgroundPolicyTests {
    /// The actions that follow from each input.
    private func actions(
        _ inputs: BackgroundPolicy.Input..., from policy: BackgroundPolicy = BackgroundPolicy()
    ) -> [[BackgroundPolicy.Action]] {
        var policy = policy
        return inputs.map { policy.handle($0) }
    }

    @Test("A background task is held while a client is connected")
    func taskWhileConnected() {
        #expect(actions(.connected, .disconnected) == [[.beginTask], [.endTask]])
        #expect(actions(.connected, .connected) == [[.beginTask], []])
        #expect(actions(.disconnected) == [[]])
    }

    @Test("An idle server is suspended as soon as the app leaves the foreground")
    func suspendedWhenIdle() {
        #expect(
            actions(.enteredBackground, .willEnterForeground, .becameActive)
                == [[.beginTask, .suspend, .endTask], [.resume], []])
    }

    @Test("A busy server is suspended when its last connection closes")
    func suspendedWhenDone() {
        #expect(
            actions(.connected, .enteredBackground, .disconnected, .willEnterForeground)
                == [[.beginTask], [], [.suspend, .endTask], [.resume]])
    }

    @Test("A busy server is suspended when its task expires, before the task ends")
    func suspendedWhenExpired() {
        #expect(
            actions(.connected, .enteredBackground, .taskExpired, .disconnected)
                == [[.beginTask], [], [.suspend, .endTask], []])
    }

    @Test("An expiry that is handled in the foreground begins another task for a connected client")
    func expiredInForeground() {
        #expect(
            actions(.connected, .enteredBackground, .willEnterForeground, .taskExpired)
                == [[.beginTask], [], [.resume], [.endTask, .beginTask]])
        #expect(
            actions(.connected, .taskExpired, .disconnected)
                == [[.beginTask], [.endTask, .beginTask], [.endTask]])
        #expect(actions(.taskExpired) == [[]])
    }

    @Test("A busy server whose app returns in time was not suspended, and is resumed")
    func backInTime() {
        #expect(
            actions(.connected, .enteredBackground, .willEnterForeground, .disconnected)
                == [[.beginTask], [], [.resume], [.endTask]])
    }

    @Test("Without a granted task a busy server is suspended at once")
    func refused() {
        #expect(
            actions(.connected, .taskRefused, .enteredBackground)
                == [[.beginTask], [], [.beginTask, .suspend, .endTask]])
        #expect(
            actions(.connected, .enteredBackground, .taskRefused) == [[.beginTask], [], [.suspend]])
    }

    @Test("A client that connects in the background starts no task")
    func connectedInBackground() {
        #expect(
            actions(.connected, from: BackgroundPolicy(isInBackground: true)) == [[]])
        let busy = BackgroundPolicy(isInBackground: true, isConnected: true)
        #expect(actions(.willEnterForeground, from: busy) == [[.resume, .beginTask]])
    }

    @Test("A resumption that failed is tried again when the app becomes active")
    func retried() {
        #expect(
            actions(
                .enteredBackground, .willEnterForeground, .resumeFailed, .becameActive, .resumed,
                .becameActive)
                == [[.beginTask, .suspend, .endTask], [.resume], [], [.resume], [], []])
        #expect(
            actions(.becameActive, from: BackgroundPolicy(isInBackground: true)) == [[.resume]])
    }

    @Test("With inputs in any order there are never two tasks, and no end without a task")
    func anyOrder() {
        let inputs: [BackgroundPolicy.Input] = [
            .enteredBackground, .willEnterForeground, .becameActive, .taskExpired, .taskRefused,
            .connected, .disconnected, .resumed, .resumeFailed,
        ]
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            var policy = BackgroundPolicy()
            var tasks = 0
            for _ in 0..<40 {
                guard let input = inputs.randomElement(using: &generator) else { continue }
                if input == .taskRefused, tasks == 0 { continue }
                if input == .taskRefused { tasks = 0 }
                for action in policy.handle(input) {
                    if action == .beginTask { tasks += 1 }
                    if action == .endTask { tasks -= 1 }
                    #expect(tasks == 0 || tasks == 1)
                }
                #expect(policy.holdsTask == (tasks == 1))
            }
        }
    }
}
