#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Memory that is mapped from the system, and returned to it at once; allocators may keep freed
/// memory.
package enum MappedPages {
    /// Maps memory that is filled with zeros.
    /// - Parameter count: the bytes, a multiple of the page size.
    /// - Returns: `nil` if there is no memory.
    package static func map(_ count: Int) -> UnsafeMutableRawPointer? {
        #if canImport(Darwin)
            let kind = MAP_PRIVATE | MAP_ANON
        #else
            let kind = MAP_PRIVATE | MAP_ANONYMOUS
        #endif
        let start = unsafe mmap(nil, count, PROT_READ | PROT_WRITE, kind, -1, 0)
        return unsafe start == UnsafeMutableRawPointer(bitPattern: -1) ? nil : start
    }

    /// Returns mapped memory to the system.
    package static func unmap(_ start: UnsafeMutableRawPointer, _ count: Int) {
        unsafe munmap(start, count)
    }
}
