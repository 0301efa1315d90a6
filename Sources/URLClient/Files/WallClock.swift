package import HTTPParser
internal import ToolkitSystem

/// The current time. Used by public calls that have no parameter for it.
package enum WallClock {
    package static var now: HTTPDate {
        HTTPDate(secondsSinceEpoch: Syscalls.realtime().seconds)
    }
}
