import HTTPParser
import HTTPServerAuthentication

/// No value of Authorization, stored password or secret traps; what was read is read again from its
/// printed form; and no part that was read holds what the grammar excludes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAuthorization(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    let text = String(decoding: bytes, as: UTF8.self)
    if let field = AuthorizationField(text) { checkField(field, text) }
    checkBasic(text)
    if let hash = PasswordHash(text) {
        check(PasswordHash(hash.description) == hash, "stored password", text)
    }
    for algorithm in DigestAlgorithm.allCases {
        if let secret = DigestSecret(hex: text, algorithm: algorithm) {
            let again = DigestSecret(hex: text.uppercased(), algorithm: algorithm)
            check(again == secret, "secret in capitals", text)
        }
    }
    return 0
}

private func check(_ holds: Bool, _ what: String, _ text: String) {
    guard holds else { fatalError("\(what): \(text)") }
}

private func checkField(_ field: AuthorizationField, _ text: String) {
    check(FieldValues.isToken(field.scheme), "scheme", text)
    check(field.scheme == field.scheme.lowercased(), "scheme in lower case", text)
    var printed = field.scheme
    switch field.content {
    case .nothing: break
    case .token68(let token):
        check(!token.isEmpty && !token.contains(","), "token", text)
        printed += " " + token
        checkBasic(token)
    case .parameters(let parameters):
        let names = parameters.map(\.name)
        check(Set(names).count == names.count, "names come once", text)
        let parts = parameters.map { parameter in
            check(field[parameter.name] == parameter.value, "look-up", text)
            guard let value = FieldValues.quoted(parameter.value) else {
                fatalError("value: \(text)")
            }
            return "\(parameter.name)=\(value)"
        }
        // Empty elements alone are parameters too, none of them.
        printed += " " + (parts.isEmpty ? "," : parts.joined(separator: ", "))
    }
    check(AuthorizationField(printed) == field, "again", printed)
}

private func checkBasic(_ token: String) {
    guard let credentials = BasicCredentials(token) else { return }
    check(!credentials.name.isEmpty && !credentials.name.contains(":"), "name", token)
    let all = (credentials.name + credentials.password).utf8
    check(!all.contains { $0 < 0x20 || $0 == 0x7F }, "controls", token)
}
