/// A place for the answer of an origin.
package protocol SourceKeeping: Sendable {
    /// Takes a source that has just arrived, and decides whether it may be kept.
    ///
    /// Called before the flight is forgotten, so that a request that comes in between finds one or the other.
    func store(_ source: Source)

    /// Replaces the header of the version that is kept; its bytes and everything made from them stay.
    func refresh(_ head: SourceHead)
}

/// The cache of sources as the downloader sees it: memory, and perhaps slower layers below.
package protocol SourceCaching: SourceKeeping {
    /// The source in memory, fresh or stale.
    ///
    /// Called under the downloader's lock: must be quick and call nothing of the downloader.
    func stored(for identity: SourceIdentity) -> StoredSource?

    /// Whether ``retrieve(_:)`` may find sources that memory does not hold.
    var hasSlowerLayer: Bool { get }

    /// Looks for a source, fresh or stale, in the layers below memory; when it returns, a found source is in memory
    /// as well.
    func retrieve(_ identity: SourceIdentity) async -> Source?

    /// Whether the arrived bytes are an image, as far as their header tells.
    func isImage(_ source: Source) -> Bool

    /// Notes the state in which a fetch begins; called before the origin is asked.
    ///
    /// - Returns: The place for the origin's answer.
    func beginFetch(of identity: SourceIdentity) -> any SourceKeeping

    /// Forgets a source that its origin no longer has, and everything made from it.
    func remove(_ identity: SourceIdentity)
}

/// A cache of one layer, of sources of any kind.
extension SourceCaching {
    /// It is not looked at.
    package func isImage(_ source: Source) -> Bool { true }

    /// There is nothing to note.
    package func beginFetch(of identity: SourceIdentity) -> any SourceKeeping { self }

    /// There is only memory.
    package var hasSlowerLayer: Bool { false }

    /// There is nothing below.
    package func retrieve(_ identity: SourceIdentity) async -> Source? { nil }
}
