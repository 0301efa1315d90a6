import HTTPCodecs
import HTTPParser

/// No disposition, extended value, media type or file name traps; what was read is read again from
/// its printed form; and a safe file name is one.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzContentDisposition(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    let text = String(decoding: bytes, as: UTF8.self)
    if let field = ContentDisposition(bytes.span) { checkField(field) }
    for usesExtended in [false, true] {
        let part = ContentDisposition(formData: bytes.span, usesExtendedFileName: usesExtended)
        if let part { checkPart(part) }
    }
    checkPart(.formData(name: text, fileName: text))
    checkField(.attachment(fileName: text))
    checkSafeName(text)
    if let value = ExtendedValue(text) {
        check(ExtendedValue(value.description) == value, "extended value", text)
    }
    let made = ExtendedValue(text: text)
    check(ExtendedValue(made.description)?.text == text, "extended text", text)
    checkMediaType(bytes, text)
    return 0
}

private func check(_ holds: Bool, _ what: String, _ text: String) {
    guard holds else { fatalError("\(what): \(text)") }
}

private func checkField(_ field: ContentDisposition) {
    let printed = field.description
    let isClean = printed.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    check(isClean, "clean field", printed)
    guard let again = ContentDisposition(printed) else { fatalError("field: \(printed)") }
    check(again.type == field.type, "type", printed)
    check(again.fileName == field.fileName.map(withoutControls), "file name", printed)
}

private func withoutControls(_ text: String) -> String {
    let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
        scalar.properties.generalCategory == .control ? "_" : scalar
    }
    return String(String.UnicodeScalarView(scalars))
}

private func checkPart(_ part: ContentDisposition) {
    let printed = part.description
    let isClean = printed.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    check(isClean, "clean part", printed)
    guard let again = ContentDisposition(formData: printed) else { fatalError("part: \(printed)") }
    for (name, read) in [(part.name, again.name), (part.fileName, again.fileName)] {
        check((name == nil) == (read == nil), "names", printed)
        guard let name, let read, !isAmbiguous(name) else { continue }
        check(name.utf8.elementsEqual(read.utf8), "names", printed)
    }
}

/// Characters that the escapes of the HTML standard do not restore.
private func isAmbiguous(_ name: String) -> Bool {
    let scalars = name.unicodeScalars
    let hasControl = scalars.contains { $0.value < 0x20 || $0.value == 0x7F }
    return hasControl || scalars.contains("%")
}

private func checkSafeName(_ text: String) {
    guard let name = ContentDisposition.safeFileName(of: text) else { return }
    check((1...255).contains(name.utf8.count) && name != "." && name != "..", "safe name", text)
    let isPlain = name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != 0x2F && $0 != 0x5C }
    check(isPlain, "safe name", text)
    check(ContentDisposition.safeFileName(of: name) == name, "safe name again", text)
}

private func checkMediaType(_ bytes: [UInt8], _ text: String) {
    if let type = MediaType(text) {
        check(MediaType(type.description) == type, "media type", text)
        let isCompressible = MediaType.isCompressible(contentType: text)
        check(type.isCompressible == isCompressible, "compressible", text)
        if let range = MediaTypePreference(text) {
            check(
                type.parameters.contains { $0.name == "q" } || range.weight(of: type) == 1_000
                    || type.type == "*" || type.subtype == "*", "own range", text)
        }
    }
    let known = MediaTypeTable.standard.contentType(ofFile: bytes)
    check(MediaType(known) != nil, "media type of a file", text)
}
