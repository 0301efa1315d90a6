import HTTPParser

/// No field value traps, and what was read is read again from its printed form.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzFieldValues(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    let text = String(decoding: bytes, as: UTF8.self)
    checkDates(bytes, text)
    checkNumbers(text)
    checkLists(bytes, text)
    checkParameters(text)
    checkEntityTags(bytes, text)
    return 0
}

private func check(_ holds: Bool, _ what: String, _ text: String) {
    guard holds else { fatalError("\(what): \(text)") }
}

private func checkDates(_ bytes: [UInt8], _ text: String) {
    let now = HTTPDate(secondsSinceEpoch: 1_795_287_900)
    if let date = HTTPDate(text, now: now) {
        check(HTTPDate(date.description, now: now) == date, "date", text)
    }
    if let time = InternetTimestamp(text) {
        check(InternetTimestamp(time.description) == time, "time stamp", text)
    }
    guard bytes.count >= 8 else { return }
    let seconds = bytes.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
    let date = HTTPDate(secondsSinceEpoch: seconds)
    check(date.description.utf8.count == HTTPDate.byteCount, "date", "\(seconds)")
}

private func checkNumbers(_ text: String) {
    if let number = FieldValues.parseDecimal(text) {
        let digits = text.drop { $0 == "0" }
        check("\(number)" == (digits.isEmpty ? "0" : digits), "number", text)
    }
    if let weight = FieldValues.parseWeight(text) {
        check((0...1_000).contains(weight), "weight", text)
    }
}

private func checkLists(_ bytes: [UInt8], _ text: String) {
    if let elements = FieldValues.list(text) {
        let joined = elements.joined(separator: " , ,")
        check(FieldValues.list(joined) == elements, "list", text)
    }
    var end = 0
    for range in FieldValues.list(bytes.span) ?? [] {
        check(range.lowerBound >= end && !range.isEmpty, "ranges of a list", text)
        end = range.upperBound
    }
    check(end <= bytes.count, "ranges of a list", text)
    if let content = FieldValues.unquoted(text), let quoted = FieldValues.quoted(content) {
        check(FieldValues.unquoted(quoted) == content, "quoted string", text)
    }
    if let quoted = FieldValues.quoted(text) {
        check(FieldValues.unquoted(quoted) == text, "quoted text", text)
    }
    for token in FieldValues.tokens(text) ?? [] {
        check(FieldValues.isToken(token), "token", text)
    }
}

private func checkParameters(_ text: String) {
    if let value = ParameterizedValue(text) {
        var printed = value.value
        for parameter in value.parameters {
            guard let field = parameter.fieldValue else { fatalError("parameter: \(text)") }
            printed += "; " + field
        }
        check(ParameterizedValue(printed) == value, "parameters", text)
    }
    for element in FieldValues.weightedList(text) ?? [] {
        check((0...1_000).contains(element.weight), "weighted list", text)
    }
}

private func checkEntityTags(_ bytes: [UInt8], _ text: String) {
    if let tag = EntityTag(parsing: bytes.span) {
        check(tag.weakMatches(tag) && tag.strongMatches(tag) != tag.isWeak, "entity tag", text)
        check(tag.description == text, "entity tag", text)
    }
    if case .tags(let tags) = EntityTagCondition(text) {
        let printed = tags.map(\.description).joined(separator: ", ")
        check(EntityTagCondition(printed) == .tags(tags), "entity tags", text)
    }
}
