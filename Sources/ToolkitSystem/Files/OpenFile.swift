/// An open file, which is closed when the last reference is released.
package final class OpenFile: Sendable {
    package let descriptor: CInt

    package init(owning descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit {
        Syscalls.close(descriptor)
    }
}
