import Coordination
import Downloading
import Imaging

/// Shares results of sources that have no generations in the shared cache yet, because they were fetched while it was
/// unreachable, or found in the result store.
struct LateSharing: Sendable {
    let caches: CacheLayers
    let layer: SharedLayer

    private static let maximumSources = 256

    /// Stores a result in the shared cache once its sources have generations there, if they are then still current.
    func share(_ result: RenderedImage, for key: ResultKey, of records: PerSource<SourceRecord>) {
        guard !result.isIncomplete, layer.isUp, layer.mayHold(.result(key)) else { return }
        Task.detached {
            for record in records where record.generations.shared == nil { await assignGenerations(to: record) }
            let known = records.mapValues { caches.knownRecord(for: $0.identity) }
            guard let current = known.complete(), caches.isCurrent(records) else { return }
            caches.store(.result(result), for: .result(key), of: current, in: layer)
        }
    }

    /// Assigns generations to a source if it is still current once all purges are known.
    private func assignGenerations(to record: SourceRecord) async {
        let identity = record.identity
        let isFirst = caches.adopting.withLock { sources in
            sources.count < Self.maximumSources && sources.insert(identity).inserted
        }
        guard isFirst else { return }
        defer { caches.adopting.withLock { _ = $0.remove(identity) } }
        let ticket = caches.changes.withLock { $0.begin(identity) }
        defer { caches.changes.withLock { $0.end(ticket) } }
        guard let known = caches.knownRecord(for: identity), known.generations.shared == nil,
            known.incompleteUntil == nil, let generations = await layer.adoption(of: identity)
        else { return }
        let adopted = SourceRecord(known.head, of: known, under: LayerGenerations(generations, of: layer.name))
        guard caches.adopt(adopted, since: ticket) else { return }
        caches.store(.record(adopted), for: .record(identity), of: PerSource(adopted), in: layer)
    }
}
