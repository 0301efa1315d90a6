package import HTTPParser

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The current time. Used by public calls that have no parameter for it.
package enum WallClock {
    package static var now: HTTPDate {
        HTTPDate(secondsSinceEpoch: Int64(Date().timeIntervalSince1970.rounded(.down)))
    }
}
