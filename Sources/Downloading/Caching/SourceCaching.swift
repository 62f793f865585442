package protocol SourceReceiver: Sendable {
    func store(_ source: Source)

    /// Stores the facts that the parts contain.
    func store(_ part: PartialSource)

    func refresh(_ head: SourceHead)
}

/// The cache of sources as seen by the downloader: memory, and optionally slower layers below.
package protocol SourceCaching: SourceReceiver {
    /// Returns a fresh or stale source. Called under the downloader's lock: must be quick and not call the downloader.
    func stored(for identity: SourceIdentity) -> SourceCopy?

    /// The head of a source that was fetched in parts, fresh or stale.
    func storedPart(of identity: SourceIdentity) -> SourceHead?

    var hasSlowerLayer: Bool { get }

    /// Looks in the layers below memory; a source that is found is then also in memory.
    func retrieve(_ identity: SourceIdentity) async -> SourceCopy?

    func isImage(_ source: Source) -> Bool

    func beginFetch(of identity: SourceIdentity) -> any SourceReceiver

    func remove(_ identity: SourceIdentity)
}

extension SourceCaching {
    package func store(_ part: PartialSource) {}

    package func storedPart(of identity: SourceIdentity) -> SourceHead? { nil }

    package func isImage(_ source: Source) -> Bool { true }

    package func beginFetch(of identity: SourceIdentity) -> any SourceReceiver { self }

    package var hasSlowerLayer: Bool { false }

    package func retrieve(_ identity: SourceIdentity) async -> SourceCopy? { nil }
}
