import Coordination
package import Downloading

/// A request whose source is resolved, with what was found for it last time: it may come again and again.
///
/// Finding out which result a request means takes the parsing of its source's URL, which is done once, and the planning of its
/// geometry, which is done again only when its source has changed. Used on all event threads.
package final class RecurringRequest: Sendable {
    /// What is asked for.
    package let request: ThumbnailRequest
    /// The identity of the source that is asked for, or why there is none.
    package let source: Result<SourceIdentity, SourceURLError>
    private let found = Locked<FoundResult?>(nil)

    /// A request that has not been asked before, for a source that was resolved.
    package init(_ request: ThumbnailRequest, source: Result<SourceIdentity, SourceURLError>) {
        self.request = request
        self.source = source
    }

    /// What was found last.
    var last: FoundResult? { found.withLock { $0 } }

    /// Remembers which result the request means while its source is known as `record`.
    func remember(_ key: ResultKey, for record: SourceRecord) {
        let new = FoundResult(record: record, key: key)
        let replaced = found.withLock { found in
            defer { found = new }
            return found
        }
        // Released here, outside the lock.
        _ = replaced
    }
}

/// A source as it was known once, and the result that a request means while that has not changed.
///
/// An object, because copying the key's parts for each answer would cost more than looking it up.
final class FoundResult: Sendable {
    let record: SourceRecord
    let key: ResultKey

    init(record: SourceRecord, key: ResultKey) {
        self.record = record
        self.key = key
    }
}
