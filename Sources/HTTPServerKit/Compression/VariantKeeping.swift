internal import ToolkitSystem

/// Puts a variant into the cache once the variant is complete.
struct VariantKeeping: Sendable {
    private enum Origin: Sendable {
        case content([UInt8], hash: UInt64)
        case file(OpenFile, FileIdentity)
    }

    private let variants: CompressedVariants
    private let origin: Origin

    init(_ content: [UInt8], hash: UInt64, in variants: CompressedVariants) {
        origin = .content(content, hash: hash)
        self.variants = variants
    }

    init(_ file: OpenFile, _ identity: FileIdentity, in variants: CompressedVariants) {
        origin = .file(file, identity)
        self.variants = variants
    }

    /// Whether a variant of this length so far, in bytes, may still be kept.
    func mayKeep(_ count: Int) -> Bool { variants.mayKeep(Int64(count)) }

    /// - Parameter variant: empty when the content does not get shorter.
    func keep(_ variant: [UInt8]) {
        // A copy has no unused capacity.
        let variant = Array(variant[...])
        switch origin {
        case .content(let content, let hash): variants.keep(variant, of: content, hash: hash)
        case .file(let file, let identity):
            // If the file changed while it was read, the variant may mix both versions.
            guard let status = RootDirectory.status(of: file.descriptor),
                FileIdentity(status) == identity
            else { return }
            variants.keep(variant, of: identity)
        }
    }
}
