import Coordination
package import Downloading
package import ThumbnailTypes

/// A request whose sources are resolved, with what was found for it last time: it may come again and again.
///
/// To find out which result a request means, the URLs of its sources are parsed, which is done once, and its geometry
/// is planned, which is done again only when one of its sources has changed. Used on all event threads.
package final class RecurringRequest: Sendable {
    package let request: ThumbnailRequest
    /// The identities of its sources, or why one of them has none: a ``ServiceError``.
    package let sources: Result<PerSource<SourceIdentity>, any Error>
    /// The image, if the caller has it in hand.
    let opened: OpenedSource?
    private let found = Locked<FoundResult?>(nil)

    /// A request that has not been asked before, with its sources resolved.
    package init(
        _ request: ThumbnailRequest, sources: Result<PerSource<SourceIdentity>, any Error>,
        of opened: OpenedSource? = nil
    ) {
        self.request = request
        self.sources = sources
        self.opened = opened
    }

    /// The result that was found last.
    var last: FoundResult? { found.withLock { $0 } }

    /// Remembers which result the request means while its sources are known as `records`.
    func remember(_ key: ResultKey, for records: PerSource<SourceRecord>) {
        let new = FoundResult(serials: records.mapValues(\.serial), key: key)
        let replaced = found.withLock { found in
            defer { found = new }
            return found
        }
        // Released here, outside the lock.
        _ = replaced
    }
}

/// The sources of a request as they were known once, and the result that it means while they have not changed.
///
/// An object, because copying the key's parts for each answer would cost more than looking it up.
final class FoundResult: Sendable {
    /// The numbers of the records: they themselves would stay in memory beside the cache that counts them.
    let serials: PerSource<UInt64>
    let key: ResultKey

    init(serials: PerSource<UInt64>, key: ResultKey) {
        self.serials = serials
        self.key = key
    }
}
