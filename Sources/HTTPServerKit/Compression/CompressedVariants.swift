internal import HTTPCodecs
internal import ToolkitSystem

/// A cache of the compressed forms of content that is requested repeatedly, in bounded memory.
///
/// Content in memory is found by the address of its buffer, which an entry keeps alive, or else by
/// a hash and a comparison of all bytes. Files are found by their identity. Keep content when it is
/// compressed for the second time: answers that never repeat must not evict others.
package final class CompressedVariants: Sendable {
    /// The compressed content; empty when it does not get shorter.
    package typealias Variant = [UInt8]

    /// The result of a search: the variant, or the hash to keep one under.
    package enum Found: Equatable {
        case variant(Variant)
        case missing(hash: UInt64)
    }

    private let generations: Locked<VariantGenerations>
    private let entryLimit: Int

    /// - Parameters:
    ///   - byteLimit: the most bytes of all contents and their compressed forms.
    ///   - entryLimit: the most bytes of one content and its compressed form, at most half of
    ///     `byteLimit`.
    package init(byteLimit: Int, entryLimit: Int) {
        generations = Locked(VariantGenerations(byteLimit: byteLimit))
        self.entryLimit = min(entryLimit, byteLimit / 2)
    }

    /// The bytes of all entries.
    package var bytes: Int { generations.withLock { $0.bytes } }

    /// Whether content of this length, in bytes, may have an entry.
    package func mayKeep(_ count: Int64) -> Bool { count < Int64(entryLimit) }

    package func find(_ content: UnsafeRawBufferPointer) -> Found {
        let address = UInt(bitPattern: content.baseAddress)
        // An entry keeps its buffer alive, so no other content has the same address.
        if let entry = generations.withLock({ $0.find(.address(address)) }) {
            return .variant(entry.variant)
        }
        let hash = unsafe ContentHash.hash(content)
        guard let entry = generations.withLock({ $0.find(.hash(hash)) }) else {
            return .missing(hash: hash)
        }
        let isSame = unsafe entry.content.withUnsafeBytes { own in
            unsafe own.hasBytes(of: content)
        }
        return isSame ? .variant(entry.variant) : .missing(hash: hash)
    }

    func find(_ file: FileIdentity) -> Variant? {
        generations.withLock { $0.find(.file(file))?.variant }
    }

    /// Whether content with this hash was compressed recently. Records the hash.
    package func hasSeen(hash: UInt64) -> Bool {
        generations.withLock { $0.hasSeen(hash) }
    }

    package func keep(_ variant: Variant, of content: [UInt8], hash: UInt64) {
        let address = unsafe content.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        insert(
            VariantEntry(
                content: content, keys: [.hash(hash), .address(address)], variant: variant))
    }

    func keep(_ variant: Variant, of file: FileIdentity) {
        insert(VariantEntry(content: [], keys: [.file(file)], variant: variant))
    }

    private func insert(_ entry: VariantEntry) {
        guard entry.cost <= entryLimit else { return }
        generations.withLock { $0.insert(entry) }
    }
}

/// The identity of one version of a file.
struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let modified: Int64
    private let changed: Int64

    init(_ status: FileStatus) {
        device = status.device
        inode = status.inode
        size = status.size
        modified = status.modifiedSeconds &* 1_000_000_000 &+ status.modifiedNanoseconds
        changed = status.changedSeconds &* 1_000_000_000 &+ status.changedNanoseconds
    }
}

/// One content and its compressed form. A file's content is not held.
final class VariantEntry: Sendable {
    enum Key: Hashable, Sendable {
        case hash(UInt64)
        case address(UInt)
        case file(FileIdentity)
    }

    let content: [UInt8]
    let keys: [Key]
    let variant: CompressedVariants.Variant

    init(content: [UInt8], keys: [Key], variant: CompressedVariants.Variant) {
        self.content = content
        self.keys = keys
        self.variant = variant
    }

    /// In bytes, with an estimate for the tables and the entry itself.
    var cost: Int { content.count + variant.count + 512 }
}

/// Entries in two generations. An entry that is used moves to the young generation. When that is
/// full, the old generation is dropped and the young one becomes the old one.
struct VariantGenerations: Sendable {
    private struct Generation: Sendable {
        var entries: [VariantEntry.Key: VariantEntry] = [:]
        var bytes = 0

        mutating func add(_ entry: VariantEntry) {
            for key in entry.keys { entries[key] = entry }
            bytes += entry.cost
        }

        mutating func remove(_ entry: VariantEntry) {
            for key in entry.keys { entries[key] = nil }
            bytes -= entry.cost
        }
    }

    private var young = Generation()
    private var old = Generation()
    private let generationLimit: Int
    /// Hashes of contents that were compressed recently, each at the index of its lowest 9 bits.
    private var seen = [UInt64](repeating: 0, count: 512)

    init(byteLimit: Int) {
        generationLimit = byteLimit / 2
    }

    var bytes: Int { young.bytes + old.bytes }

    mutating func find(_ key: VariantEntry.Key) -> VariantEntry? {
        if let entry = young.entries[key] { return entry }
        guard let entry = old.entries[key] else { return nil }
        old.remove(entry)
        add(entry)
        return entry
    }

    mutating func insert(_ entry: VariantEntry) {
        // Removes other content of the same hash, and the same content kept by another loop.
        for key in entry.keys {
            if let other = young.entries[key] { young.remove(other) }
            if let other = old.entries[key] { old.remove(other) }
        }
        add(entry)
    }

    private mutating func add(_ entry: VariantEntry) {
        if young.bytes + entry.cost > generationLimit {
            old = young
            young = Generation()
        }
        young.add(entry)
    }

    /// Whether the hash is among those recorded. Records it.
    mutating func hasSeen(_ hash: UInt64) -> Bool {
        let place = Int(truncatingIfNeeded: hash & 511)
        defer { seen[place] = hash }
        return seen[place] == hash
    }
}
