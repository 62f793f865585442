import Coordination
import Downloading

/// A request that comes again and again, with what was found for it last time.
///
/// Finding out which result a request means takes the parsing of its URL and the planning of its geometry; that is done again only
/// when its source has changed. Used on all event threads.
package final class RecurringRequest: Sendable {
    /// What is asked for.
    package let request: ThumbnailRequest
    private let found = Locked<(record: SourceRecord, key: ResultKey)?>(nil)

    /// A request that has not been asked before.
    package init(_ request: ThumbnailRequest) {
        self.request = request
    }

    /// The source as it was known last time, and the result that the request means while that has not changed.
    var last: (record: SourceRecord, key: ResultKey)? { found.withLock { $0 } }

    /// Remembers which result the request means while its source is known as `record`.
    func remember(_ key: ResultKey, for record: SourceRecord) {
        let replaced = found.withLock { found in
            defer { found = (record, key) }
            return found
        }
        // Released here, outside the lock.
        _ = replaced
    }
}
