internal import HTTPCrypto
internal import HTTPServerCore
internal import HTTPServerKit

/// The name of an upload: 128 random bits in hexadecimal, so it cannot be guessed.
struct UploadID: Hashable, Sendable {
    /// The path segment before the name of an upload.
    static let folder = ".uploads"
    private static let length = 32
    private static let marker = Array("/\(folder)/".utf8)

    let text: String

    static func random() -> UploadID { UploadID(text: Hex.text(of: Crypto.random(length / 2))) }

    private init(text: String) { self.text = text }

    /// The upload that a request names; `nil` when it names something else. The last bytes of the
    /// target decide, so other requests cost nothing.
    init?(of request: Request) {
        guard let end = request.targetEnd(Self.length, behind: Self.marker) else { return nil }
        self.init(end)
    }

    /// - Parameter bytes: 32 digits in lower case.
    init?(_ bytes: some Collection<UInt8>) {
        let isName = bytes.allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }
        guard bytes.count == Self.length, isName else { return nil }
        text = String(decoding: bytes, as: UTF8.self)
    }

    /// The URL path of this upload, which a request begins or names.
    func location(for request: Request) -> String {
        "\(request.mountPath)/\(Self.folder)/\(text)"
    }

    var partName: [UInt8] { Array(text.utf8) }
    var recordName: [UInt8] { Array("\(text).json".utf8) }
    /// The temporary name of a record that is being written.
    var newName: [UInt8] { Array("\(text).new".utf8) }
}
