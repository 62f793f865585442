package protocol SourceReceiver: Sendable {
    func store(_ source: ReceivedSource)

    /// Stores the facts from the fetched ranges.
    func store(_ source: PartialSource)

    func refresh(_ head: SourceHead)
}

/// The downloader's view of the caches: memory, and optionally layers below.
package protocol SourceCaching: SourceReceiver {
    /// Returns a fresh or stale source; called under the downloader's lock, so it must be fast and not call back.
    func stored(for identity: SourceIdentity) -> SourceCopy?

    /// Returns the fresh or stale head of a source of which only ranges were fetched.
    func storedPartialHead(of identity: SourceIdentity) -> SourceHead?

    var hasLayerBelowMemory: Bool { get }

    /// Looks in the layers below memory, and copies a source that it finds to memory.
    func retrieve(_ identity: SourceIdentity) async -> SourceCopy?

    func isImage(_ source: ReceivedSource) -> Bool

    func beginFetch(of identity: SourceIdentity) -> any SourceReceiver

    func remove(_ identity: SourceIdentity)
}

extension SourceCaching {
    package func store(_ source: PartialSource) {}

    package func storedPartialHead(of identity: SourceIdentity) -> SourceHead? { nil }

    package func isImage(_ source: ReceivedSource) -> Bool { true }

    package func beginFetch(of identity: SourceIdentity) -> any SourceReceiver { self }

    package var hasLayerBelowMemory: Bool { false }

    package func retrieve(_ identity: SourceIdentity) async -> SourceCopy? { nil }
}
