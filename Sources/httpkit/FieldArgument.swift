import ArgumentParser
import HTTPParser

/// A field on the command line: `Name: value`.
struct FieldArgument {
    let name: HTTPFieldName
    let value: String

    /// - Parameters:
    ///   - text: the argument.
    ///   - flag: the flag, which error messages name.
    init(_ text: String, of flag: String) throws {
        guard let colon = text.firstIndex(of: ":"), let name = HTTPFieldName(String(text[..<colon]))
        else { throw ValidationError("\(flag) takes 'NAME: VALUE'") }
        let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        guard !value.utf8.contains(where: { ($0 < 0x20 && $0 != 9) || $0 == 0x7F }) else {
            throw ValidationError("\(flag) \(name): the value has control characters")
        }
        (self.name, self.value) = (name, String(value))
    }
}
