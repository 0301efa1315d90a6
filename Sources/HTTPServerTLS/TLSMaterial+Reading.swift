internal import ToolkitSystem

extension TLSMaterial {
    /// The longest file that is read, in bytes: chains and lists of authorities are far shorter.
    static let byteLimit = 4 << 20

    /// The path for error messages; empty for bytes.
    var place: String {
        switch self {
        case .file(let path): path
        case .bytes: ""
        }
    }

    func read() throws(TLSError) -> [UInt8] {
        switch self {
        case .bytes(let bytes): return bytes
        case .file(let path):
            do throws(SystemError) {
                return try Syscalls.readFile(path, upTo: Self.byteLimit)
            } catch {
                throw TLSError(.file, path, error.reason)
            }
        }
    }
}
