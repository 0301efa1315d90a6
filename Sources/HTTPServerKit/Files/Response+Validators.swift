public import HTTPParser
public import HTTPServerCore
internal import ToolkitSystem

extension Response {
    /// ETag; `nil` if it is missing or malformed (RFC 9110 section 8.8.3). Setting it writes the
    /// field.
    public var entityTag: EntityTag? {
        get { fields[.eTag].flatMap { EntityTag($0) } }
        set { fields[.eTag] = newValue?.description }
    }

    /// Last-Modified; `nil` if it is missing or malformed (RFC 9110 section 8.8.2). Setting it
    /// writes the field; a date in the future becomes the current date, as that section requires.
    public var lastModified: HTTPDate? {
        get { fields[.lastModified].flatMap { HTTPDate($0, now: Self.now) } }
        set { fields[.lastModified] = newValue.map { min($0, Self.now).description } }
    }

    private static var now: HTTPDate {
        HTTPDate(secondsSinceEpoch: Syscalls.realtime().seconds)
    }
}

extension EntityTag {
    /// A strong tag computed from content. Equal bytes have equal tags, on every machine; two
    /// different contents share a tag with a probability of 1 in 2^128.
    ///
    /// The hash is not cryptographic: an attacker can construct two contents with the same tag.
    public init(of content: [UInt8]) {
        // The offset basis and the prime of FNV-1a with 128 bits.
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
