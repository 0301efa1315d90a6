import URLClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension JSONValue {
    /// The figures of one transaction, times in milliseconds.
    init(_ hop: ClientMetrics.Hop) {
        var members: [JSONName: JSONValue] = [
            "url": .text(hop.url.absoluteString),
            "queued": .real(hop.queued.inSeconds * 1000),
            "reused": .flag(hop.isConnectionReused),
            "requestHeadBytes": .integer(hop.requestHeadBytes),
            "requestContentBytes": .integer(Int(hop.requestContentBytes)),
            "responseHeadBytes": .integer(hop.responseHeadBytes),
            "responseContentBytes": .integer(Int(hop.responseContentBytes)),
        ]
        if let version = hop.version { members["version"] = .text(version.rawValue) }
        let times: [(JSONName, Duration?)] = [
            ("nameLookupEnd", hop.nameLookupEnd), ("connectEnd", hop.connectEnd),
            ("secureConnectionEnd", hop.secureConnectionEnd), ("requestStart", hop.requestStart),
            ("requestEnd", hop.requestEnd), ("responseStart", hop.responseStart),
            ("responseEnd", hop.responseEnd),
        ]
        for (name, time) in times {
            if let time { members[name] = .real(time.inSeconds * 1000) }
        }
        if !hop.remoteAddress.isEmpty {
            members["remote"] = .text("\(hop.remoteAddress) port \(hop.remotePort)")
        }
        if let target = hop.connectTarget { members["connectTo"] = .text("\(target)") }
        if let version = hop.tlsVersion { members["tls"] = .text(version) }
        if let cipher = hop.tlsCipher { members["cipher"] = .text(cipher) }
        self = .object(members)
    }
}
