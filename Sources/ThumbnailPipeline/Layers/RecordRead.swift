import Coordination
import Downloading
import HTTPTypes

/// A read of a record from a layer; its value is discarded if the source changes during the read.
final class RecordRead: Sendable {
    private let identity: SourceIdentity
    private let stored: SourceRecord?
    private let caches: CacheLayers
    private let ticket: ChangeTracker<SourceIdentity>.Ticket

    init(of identity: SourceIdentity, stored: SourceRecord? = nil, in caches: CacheLayers) {
        self.identity = identity
        self.stored = stored
        self.caches = caches
        ticket = caches.changes.withLock { $0.begin(identity.wildcard) }
    }

    deinit { caches.changes.withLock { $0.end(ticket) } }

    private var isUnchanged: Bool { caches.changes.withLock { $0.isUnchanged(since: ticket) } }

    func record(storing reply: LayerReply) -> SourceRecord? {
        guard let received = reply.value?.record else { return stored }
        guard isUnchanged else { return caches.storedRecord(for: identity) }
        if let stored = stored ?? caches.storedRecord(for: identity) {
            guard received.head.receivedAt.secondsSince1970 > stored.head.receivedAt.secondsSince1970 else {
                return stored
            }
            // Another instance has fetched a newer version.
            if stored.validator != received.validator { caches.forgetDerived(from: identity) }
        }
        return store(received) ? received : nil
    }

    func store(_ record: SourceRecord) -> Bool {
        guard isUnchanged else { return false }
        caches.memory.store(.record(record), for: .record(identity), of: PerSource(record))
        if isUnchanged { return true }
        // The source was removed or replaced during the read: a missing record is better than an outdated one.
        caches.memory.forget(.value(.record(identity)))
        return false
    }
}
