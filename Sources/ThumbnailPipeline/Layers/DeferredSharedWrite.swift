import Coordination
import Downloading
import ThumbnailTypes

/// Stores a result in a shared layer after creating the missing generations of its sources.
struct DeferredSharedWrite: Sendable {
    let caches: CacheLayers
    let layer: SharedLayer

    private static let maximumSources = 256

    func begin(_ result: RenderedImage, for key: ResultKey, of records: PerSource<SourceRecord>) {
        guard !result.isIncomplete, layer.isUp, layer.mayHold(.result(key)) else { return }
        Task.detached {
            for record in records where record.generations[layer.name] == nil { await assignGenerations(to: record) }
            let stored = records.mapValues { caches.storedRecord(for: $0.identity) }
            guard let current = stored.unwrapped(), caches.isCurrent(records) else { return }
            caches.store(.result(result), for: .result(key), of: current, in: layer)
        }
    }

    private func assignGenerations(to record: SourceRecord) async {
        let identity = record.identity
        let isFirst = caches.awaitingGenerations.withLock { sources in
            sources.count < Self.maximumSources && sources.insert(identity).inserted
        }
        guard isFirst else { return }
        defer { caches.awaitingGenerations.withLock { _ = $0.remove(identity) } }
        let read = RecordRead(of: identity, in: caches)
        guard let stored = caches.storedRecord(for: identity), stored.generations[layer.name] == nil,
            stored.incompleteUntil == nil, let generations = await layer.fetchGenerations(of: identity)
        else { return }
        let adopted = SourceRecord(stored.head, of: stored, under: [layer.name: generations])
        guard read.store(adopted) else { return }
        caches.store(.record(adopted), for: .record(identity), of: PerSource(adopted), in: layer)
    }
}
