/// What an instance does about purges of others; called on the thread `shared-cache`.
package struct PurgeAudience: Sendable {
    /// A source was purged; called once for each purge.
    let onPurge: @Sendable (PurgeNotice) -> Void
    /// Purges were missed that nobody knows any more.
    let onGap: @Sendable () -> Void
    /// The log of purges has been read up to here.
    let onPosition: @Sendable (_ position: [UInt8]) -> Void

    /// Calls these functions.
    package init(
        onPurge: @escaping @Sendable (PurgeNotice) -> Void, onGap: @escaping @Sendable () -> Void,
        onPosition: @escaping @Sendable (_ position: [UInt8]) -> Void = { _ in }
    ) {
        self.onPurge = onPurge
        self.onGap = onGap
        self.onPosition = onPosition
    }
}
