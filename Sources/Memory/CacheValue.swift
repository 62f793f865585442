package struct CacheValue: Sendable {
    /// The small fields that readers need besides the body.
    package let head: [UInt8]
    package let body: SharedBytes

    package init(head: [UInt8], body: SharedBytes = SharedBytes([UInt8]())) {
        self.head = head
        self.body = body
    }
}
