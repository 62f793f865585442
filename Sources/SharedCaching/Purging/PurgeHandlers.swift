/// Handlers that are called on the `shared-cache` thread.
package struct PurgeHandlers: Sendable {
    let onPurge: @Sendable (PurgeNotice.Subject) -> Void
    /// Called if missed purges are lost.
    let onGap: @Sendable () -> Void
    let onPosition: @Sendable (_ position: [UInt8]) -> Void

    package init(
        onPurge: @escaping @Sendable (PurgeNotice.Subject) -> Void = { _ in },
        onGap: @escaping @Sendable () -> Void = {},
        onPosition: @escaping @Sendable (_ position: [UInt8]) -> Void = { _ in }
    ) {
        self.onPurge = onPurge
        self.onGap = onGap
        self.onPosition = onPosition
    }
}
