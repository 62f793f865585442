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

    /// The source of the request as it was found last time.
    var identity: SourceIdentity? { found.withLock { $0?.record.identity } }

    /// The result that the request means while its source is known as `record`, else what `make` finds.
    func resultKey(for record: SourceRecord, make: () throws -> ResultKey) rethrows -> ResultKey {
        if let known = found.withLock({ $0?.record === record ? $0?.key : nil }) { return known }
        let made = try make()
        let replaced = found.withLock { found in
            defer { found = (record, made) }
            return found
        }
        // Released here, outside the lock.
        _ = replaced
        return made
    }
}
