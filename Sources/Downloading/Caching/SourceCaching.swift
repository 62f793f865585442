package protocol SourceReceiver: Sendable {
    /// Receives a source that has just arrived, and decides whether to store it.
    ///
    /// Called before the fetch is forgotten, so that a request in between finds one or the other.
    func store(_ source: Source)

    /// Replaces the header of the stored version; its bytes and everything derived from them stay.
    func refresh(_ head: SourceHead)
}

/// The cache of sources as seen by the downloader: memory, and optionally slower layers below.
package protocol SourceCaching: SourceReceiver {
    /// Returns the source in memory, fresh or stale.
    ///
    /// Called under the downloader's lock: must be quick and not call the downloader.
    func stored(for identity: SourceIdentity) -> SourceCopy?

    /// Whether ``retrieve(_:)`` may find sources that are not in memory.
    var hasSlowerLayer: Bool { get }

    /// Looks up a source, fresh or stale, in the layers below memory; a source that is found is also in memory when
    /// this returns.
    func retrieve(_ identity: SourceIdentity) async -> SourceCopy?

    /// Returns whether the received bytes are an image, judging by their header.
    func isImage(_ source: Source) -> Bool

    /// Records the state in which a fetch begins; called before the origin is contacted.
    func beginFetch(of identity: SourceIdentity) -> any SourceReceiver

    /// Removes a source deleted at its origin, and everything derived from it.
    func remove(_ identity: SourceIdentity)
}

/// The defaults for a cache of one layer, for sources of any kind.
extension SourceCaching {
    package func isImage(_ source: Source) -> Bool { true }

    package func beginFetch(of identity: SourceIdentity) -> any SourceReceiver { self }

    package var hasSlowerLayer: Bool { false }

    package func retrieve(_ identity: SourceIdentity) async -> SourceCopy? { nil }
}
