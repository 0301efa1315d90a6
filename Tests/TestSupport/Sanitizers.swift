#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The differences when the tests run under a sanitizer, as with `Scripts/sanitize`.
package enum Sanitizers {
    /// How many KiB more memory processes may use; 0 without a sanitizer.
    package static var memory: Int {
        guard let text = unsafe getenv("SANITIZER_MEMORY") else { return 0 }
        return unsafe Int(String(cString: text)) ?? 0
    }

    /// Whether the tests run under a sanitizer.
    package static var isOn: Bool { memory > 0 }
}
