/// The cache of sources as the downloader sees it: memory, and perhaps slower layers below.
package protocol SourceCaching: Sendable {
    /// What memory holds of a source, fresh or stale.
    ///
    /// Called under the downloader's lock: must be quick and call nothing of the downloader.
    func stored(for identity: SourceIdentity) -> StoredSource?

    /// Whether ``retrieve(_:)`` may find what memory does not hold.
    var hasSlowerLayer: Bool { get }

    /// Looks for a source, fresh or stale, in the layers below memory; what it finds is in memory as well when it returns.
    func retrieve(_ identity: SourceIdentity) async -> Source?

    /// Takes a source that has just arrived, and decides itself whether it may be kept.
    ///
    /// Called before the flight is forgotten, so that a request that comes in between finds one or the other.
    func store(_ source: Source)

    /// Replaces what the origin said of the version that is kept; its bytes and all made from them stay.
    func refresh(_ head: SourceHead)

    /// Forgets a source that its origin does not have any more, and all made from it.
    func remove(_ identity: SourceIdentity)
}

/// A cache of one layer.
extension SourceCaching {
    /// There is only memory.
    package var hasSlowerLayer: Bool { false }

    /// There is nothing below.
    package func retrieve(_ identity: SourceIdentity) async -> Source? { nil }
}
