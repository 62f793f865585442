package struct CacheValue: Sendable {
    /// Fields that the reader needs besides the body; small.
    package let head: [UInt8]
    package let body: SharedBytes

    package init(head: [UInt8], body: SharedBytes = SharedBytes([UInt8]())) {
        self.head = head
        self.body = body
    }
}
