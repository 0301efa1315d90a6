/// A file that stays open until nobody needs it.
package final class OpenFile: Sendable {
    package let descriptor: CInt

    package init(owning descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit {
        Syscalls.close(descriptor)
    }
}
