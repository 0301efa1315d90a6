public import HTTPParser
public import HTTPServerCore
internal import ToolkitSystem

extension Response {
    /// ETag; `nil` without one that is a tag (RFC 9110 section 8.8.3). Setting it writes the field.
    public var entityTag: EntityTag? {
        get { fields[.eTag].flatMap { EntityTag($0) } }
        set { fields[.eTag] = newValue?.description }
    }

    /// Last-Modified; `nil` without one that is a date (RFC 9110 section 8.8.2). Setting it writes
    /// the field; a date that is still to come becomes the current one, as the section asks for.
    public var lastModified: HTTPDate? {
        get { fields[.lastModified].flatMap { HTTPDate($0, now: Self.now) } }
        set { fields[.lastModified] = newValue.map { min($0, Self.now).description } }
    }

    private static var now: HTTPDate {
        HTTPDate(secondsSinceEpoch: Syscalls.realtime().seconds)
    }
}

extension EntityTag {
    /// A strong tag made of content: equal bytes have equal tags, on every machine, and other bytes
    /// have another one but for a chance of 1 in 2^128.
    ///
    /// It is no cryptographic hash: an attacker who chooses the content can make two that share a
    /// tag.
    public init(of content: [UInt8]) {
        // FNV-1a with 128 bits, whose offset and prime these are.
        var hash: UInt128 = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D
        let prime: UInt128 = 0x0000_0000_0100_0000_0000_0000_0000_013B
        for byte in content {
            hash = (hash ^ UInt128(byte)) &* prime
        }
        let digits = String(hash, radix: 16)
        let text = "\"" + String(repeating: "0", count: 32 - digits.count) + digits + "\""
        guard let tag = EntityTag(text) else { preconditionFailure("digits make a tag") }
        self = tag
    }
}
