import HTTPCodecs
import HTTPParser

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The identifier of a case in JSON, which the result of the case repeats. Texts and 64-bit
/// integers keep their exact value; other numbers are read as `Double`.
enum CaseID: Equatable, Sendable {
    case null
    case text(String)
    /// The number as text, because no single type holds all numbers.
    case number(String)
}

/// A case: one line of a batch.
struct BatchCase: Equatable, Sendable {
    enum Kind: String, Sendable { case request, response }

    var id: CaseID
    var kind: Kind
    var bytes: [UInt8]
    var requestMethods: [HTTPMethod] = []
    var limits = BatchLimits()
}

/// The reason why a line is not a valid case.
struct CaseFault: Error, Equatable {
    var id: CaseID
    var reason: String
}

/// Decodes lines of JSON to cases.
struct BatchCaseDecoder {
    let defaultKind: BatchCase.Kind
    private let decoder = JSONDecoder()

    init(defaultKind: BatchCase.Kind) {
        self.defaultKind = defaultKind
    }

    func decode(_ line: Span<UInt8>) throws(CaseFault) -> BatchCase {
        let data = unsafe line.withUnsafeBytes { unsafe Data($0) }
        do {
            return try decoder.decode(CaseMembers.self, from: data).batchCase(defaultKind)
        } catch {
            // The identifier may be valid even if the rest of the line is not.
            let identity = try? decoder.decode(CaseIdentity.self, from: data)
            throw CaseFault(
                id: identity?.id ?? .null, reason: reason(of: error, isJSON: identity != nil))
        }
    }

    private func reason(of error: any Error, isJSON: Bool) -> String {
        if let fault = error as? CaseFault { return fault.reason }
        switch error as? DecodingError {
        case .keyNotFound(let key, _): return "\(key.stringValue) is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            guard let path = path(of: context) else { return "not a JSON object" }
            return "\(path) has the wrong type"
        // The line is valid JSON with an invalid value, such as a fraction instead of an integer.
        case .dataCorrupted(let context) where isJSON:
            return "\(path(of: context) ?? "a member") has no valid value"
        default: return "not JSON"
        }
    }

    /// The path of the member with the error, such as `limits.maxFields`; `nil` for the whole line.
    private func path(of context: DecodingError.Context) -> String? {
        let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
        return path.isEmpty ? nil : path.joined(separator: ".")
    }
}

private struct CaseIdentity: Decodable {
    var id: CaseID?
}

private struct CaseMembers: Decodable {
    var id: CaseID?
    var kind: String?
    var bytes: String
    var requestMethods: [String]?
    var limits: BatchLimits?

    func batchCase(_ defaultKind: BatchCase.Kind) throws(CaseFault) -> BatchCase {
        let id = id ?? .null
        func refuse(_ reason: String) -> CaseFault { CaseFault(id: id, reason: reason) }
        guard let kind = kind.map(BatchCase.Kind.init(rawValue:)) ?? defaultKind else {
            throw refuse("kind is neither request nor response")
        }
        guard let bytes = Base64.decode(Array(bytes.utf8)) else {
            throw refuse("bytes is not base64")
        }
        var methods: [HTTPMethod] = []
        for name in requestMethods ?? [] {
            guard let method = HTTPMethod(name) else {
                throw refuse("requestMethods contains an invalid method")
            }
            methods.append(method)
        }
        let limits = limits ?? BatchLimits()
        guard !limits.hasNegative else { throw refuse("limits has a negative number") }
        return BatchCase(
            id: id, kind: kind, bytes: bytes, requestMethods: methods, limits: limits)
    }
}

extension CaseID: Decodable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let integer = try? container.decode(Int64.self) {
            self = .number("\(integer)")
        } else if let integer = try? container.decode(UInt64.self) {
            self = .number("\(integer)")
        } else if let number = try? container.decode(Double.self) {
            self = .number("\(number)")
        } else if container.decodeNil() {
            self = .null
        } else {
            throw DecodingError.typeMismatch(
                CaseID.self,
                .init(codingPath: decoder.codingPath, debugDescription: "not text or number"))
        }
    }
}
