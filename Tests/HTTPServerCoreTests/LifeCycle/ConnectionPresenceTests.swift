import Testing
import ToolkitSystem

@Suite("First and last connection")
struct ConnectionPresenceTests {
    @Test("Without an interval each disconnection is reported at once")
    func noInterval() {
        var presence = ConnectionPresence(interval: 0)
        #expect(!presence.isConnected)
        for now: UInt64 in [5, 10] {
            #expect(presence.changed(isOpen: true, now: now) == .connected)
            #expect(presence.isConnected)
            #expect(presence.changed(isOpen: false, now: now) == .disconnected)
            #expect(!presence.isConnected)
        }
    }

    @Test("A disconnection is reported if no client connects during the whole interval")
    func interval() {
        var presence = ConnectionPresence(interval: 100)
        #expect(presence.changed(isOpen: true, now: 0) == .connected)
        #expect(presence.changed(isOpen: false, now: 10) == .wait(100))
        #expect(presence.isConnected)
        #expect(presence.timerFired(now: 110) == .disconnected)
        #expect(!presence.isConnected)
        #expect(presence.changed(isOpen: true, now: 120) == .connected)
    }

    @Test("A client that reconnects in time prevents the report")
    func coalescing() {
        var presence = ConnectionPresence(interval: 100)
        #expect(presence.changed(isOpen: true, now: 0) == .connected)
        #expect(presence.changed(isOpen: false, now: 10) == .wait(100))
        #expect(presence.changed(isOpen: true, now: 50) == .none)
        #expect(presence.timerFired(now: 110) == .none)
        #expect(presence.isConnected)
        #expect(presence.changed(isOpen: false, now: 200) == .wait(100))
    }

    @Test("One timer is enough for connections that come and go")
    func oneTimer() {
        var presence = ConnectionPresence(interval: 100)
        #expect(presence.changed(isOpen: true, now: 0) == .connected)
        #expect(presence.changed(isOpen: false, now: 10) == .wait(100))
        for now in UInt64(20)..<90 {
            #expect(presence.changed(isOpen: true, now: now) == .none)
            #expect(presence.changed(isOpen: false, now: now) == .none)
        }
        #expect(presence.timerFired(now: 110) == .wait(79))
        #expect(presence.timerFired(now: 189) == .disconnected)
    }

    @Test("A timer with an old clock reading waits for the whole interval")
    func lateTimer() {
        var presence = ConnectionPresence(interval: 100)
        #expect(presence.changed(isOpen: true, now: 0) == .connected)
        #expect(presence.changed(isOpen: false, now: 10) == .wait(100))
        #expect(presence.changed(isOpen: true, now: 105) == .none)
        #expect(presence.changed(isOpen: false, now: 115) == .none)
        #expect(presence.timerFired(now: 110) == .wait(100))
        #expect(presence.isConnected)
        #expect(presence.timerFired(now: 210) == .wait(5))
        #expect(presence.timerFired(now: 215) == .disconnected)
    }

    @Test("A stop reports the disconnection at once")
    func stopped() {
        var presence = ConnectionPresence(interval: 100)
        #expect(presence.stopped() == .none)
        #expect(presence.changed(isOpen: true, now: 0) == .connected)
        #expect(presence.changed(isOpen: false, now: 1) == .wait(100))
        #expect(presence.stopped() == .disconnected)
        #expect(presence.timerFired(now: 101) == .none)
        #expect(presence.stopped() == .none)
    }

    @Test("An end that is reported after the next beginning is ignored")
    func lateEnd() {
        var presence = ConnectionPresence(interval: 0)
        #expect(presence.changed(isOpen: true, now: 0) == .connected)
        // Two threads: one saw the count fall to 0, the other one reported its rise to 1 first.
        #expect(presence.changed(isOpen: true, now: 1) == .none)
        #expect(presence.changed(isOpen: true, now: 1) == .none)
        #expect(presence.isConnected)
    }
}
