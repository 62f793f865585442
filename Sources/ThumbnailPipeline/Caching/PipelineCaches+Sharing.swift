import Coordination
package import Downloading
import ImageCaching
import SharedCaching
import Telemetry

/// Calls of the caches to the cache that all instances share.
extension PipelineCaches {
    /// Notes the shared cache's generations of a source whose fetch begins now.
    package func beginFetch(of identity: SourceIdentity) -> (any FetchTicket)? {
        tier?.beginning(of: identity, known: knownRecord(for: identity)).map { FetchBeginning(generations: $0) }
    }

    /// Removes a source that may not be kept, and all made from it, also from the shared cache if it may be there.
    func withdraw(_ identity: SourceIdentity, known: SourceRecord?, cause: PurgeCause) {
        if let tier, known != nil || tier.beginning(of: identity, known: nil) != nil { tier.forget(identity) }
        if known != nil || disk != nil { removeAll(from: identity, cause: cause) }
    }

    /// Puts a result into the shared cache while all its sources are current; returns whether that will be tried.
    ///
    /// If a source was fetched while the shared cache was out of reach, that takes some time.
    func share(_ result: RenderedImage, for key: ResultKey, of records: PerSource<SourceRecord>) -> Bool {
        guard let tier, isCurrent(records) else { return false }
        if records.allSatisfy({ $0.generations != nil }) { return tier.keep(result, for: key, of: records) }
        guard tier.isUp, !records.contains(where: \.identity.isGiven) else { return false }
        Task.detached { [self] in
            for record in records where record.generations == nil { await adopt(record, tier) }
            let now = records.mapValues { self.knownRecord(for: $0.identity) }
            guard let current = now.complete(), isCurrent(records) else { return }
            _ = tier.keep(result, for: key, of: current)
        }
        return false
    }

    /// Gives a source generations if it is still current when all purges are known; then it can be shared.
    private func adopt(_ record: SourceRecord, _ tier: SharedTier) async {
        let identity = record.identity
        let isFirst = adopted.withLock { sources in
            sources.count < Self.mostAdoptions && sources.insert(identity).inserted
        }
        guard isFirst else { return }
        defer { adopted.withLock { _ = $0.remove(identity) } }
        let ticket = changes.withLock { $0.begin(identity) }
        defer { changes.withLock { $0.end(ticket) } }
        guard let known = knownRecord(for: identity), known.generations == nil, known.incompleteUntil == nil,
            let generations = await tier.adoption(of: identity)
        else { return }
        let adopted = SourceRecord(known.head, of: known, under: generations)
        if keep(adopted, since: ticket) { tier.keep(adopted) }
    }

    private static let mostAdoptions = 256
}

/// A fetch that began under these generations of the shared cache.
struct FetchBeginning: FetchTicket {
    let generations: SharedGenerations
}
