/// A value as caches outside of memory store it: a body and a few bytes about it.
package struct CacheValue: Sendable {
    /// Fields that the reader needs besides the body; small.
    package let head: [UInt8]
    /// The cached bytes.
    package let body: SharedBytes

    package init(head: [UInt8], body: SharedBytes = SharedBytes([UInt8]())) {
        self.head = head
        self.body = body
    }
}
