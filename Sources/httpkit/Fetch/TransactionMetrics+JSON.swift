import URLClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension JSONValue {
    /// The metrics of one transaction, with times in milliseconds.
    init(_ transaction: ClientMetrics.Transaction) {
        var members: [JSONName: JSONValue] = [
            "url": .text(transaction.url.absoluteString),
            "queued": .real(transaction.queued.inSeconds * 1000),
            "reused": .flag(transaction.isConnectionReused),
            "requestHeadBytes": .integer(transaction.requestHeadBytes),
            "requestContentBytes": .integer(Int(transaction.requestContentBytes)),
            "responseHeadBytes": .integer(transaction.responseHeadBytes),
            "responseContentBytes": .integer(Int(transaction.responseContentBytes)),
        ]
        if let version = transaction.version { members["version"] = .text(version.rawValue) }
        let times: [(JSONName, Duration?)] = [
            ("nameLookupEnd", transaction.nameLookupEnd), ("connectEnd", transaction.connectEnd),
            ("secureConnectionEnd", transaction.secureConnectionEnd),
            ("requestStart", transaction.requestStart),
            ("requestEnd", transaction.requestEnd), ("responseStart", transaction.responseStart),
            ("responseEnd", transaction.responseEnd),
        ]
        for (name, time) in times {
            if let time { members[name] = .real(time.inSeconds * 1000) }
        }
        if !transaction.remoteAddress.isEmpty {
            members["remote"] = .text("\(transaction.remoteAddress) port \(transaction.remotePort)")
        }
        if let target = transaction.connectTarget { members["connectTo"] = .text("\(target)") }
        if let version = transaction.tlsVersion { members["tls"] = .text(version) }
        if let cipher = transaction.tlsCipher { members["cipher"] = .text(cipher) }
        self = .object(members)
    }
}
