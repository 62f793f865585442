import Downloading
import SharedCaching
import Telemetry
import Text

struct SourceRemoval: Sendable {
    private let pipeline: ImagePipeline

    init(from pipeline: ImagePipeline) { self.pipeline = pipeline }

    /// Removes the copies of all tenants.
    func purge(_ identity: SourceIdentity) async -> RemovedEntries {
        let all = identities(of: identity)
        all.forEach(forgetFailuresAndTags)
        return await pipeline.caches.purgeLocal(.sources(all))
    }

    /// Removes the copies of all tenants without waiting for the disk.
    func forget(_ identity: SourceIdentity, cause: PurgeCause) {
        for identity in identities(of: identity) {
            forgetFailuresAndTags(of: identity)
            pipeline.caches.forget(identity, cause: cause)
        }
    }

    /// - Parameter includesServiceRules: Whether to also remove copies under the service's rules; pass false if the
    ///   caller removes these.
    func forgetTenantCopies(of identity: SourceIdentity, includesServiceRules: Bool) {
        let others = pipeline.downloader.rules.tenantIdentities(of: identity)
        for identity in ((includesServiceRules ? [identity] : []) + others).map(\.wildcard) {
            forgetFailuresAndTags(of: identity)
            pipeline.caches.forget(identity, cause: .operator)
            pipeline.caches.forgetShared(identity, isKnown: true)
        }
    }

    private func identities(of identity: SourceIdentity) -> [SourceIdentity] {
        ([identity] + pipeline.downloader.rules.tenantIdentities(of: identity).filter { $0 != identity }).map(
            \.wildcard)
    }

    func sources(under tag: ExactText) async -> (sources: Set<SourceIdentity>, isComplete: Bool) {
        var sources = pipeline.caches.sources(under: tag)
        var isComplete = true
        for layer in pipeline.caches.local {
            let known = await layer.sources(under: tag)
            sources.formUnion(known.names.compactMap { identity(named: $0) })
            isComplete = isComplete && known.isComplete
        }
        return (sources, isComplete)
    }

    /// Limits the sources to the number that can be announced to other instances.
    static func bounded(_ sources: Set<SourceIdentity>) -> (sources: Set<SourceIdentity>, isComplete: Bool) {
        var limit = TagRemovalLimit()
        let bounded = sources.filter { limit.admit($0.name) }
        return (bounded, bounded.count == sources.count)
    }

    func identity(named name: String) -> SourceIdentity? { try? pipeline.downloader.identity(of: ExactText(name)) }

    private func forgetFailuresAndTags(of identity: SourceIdentity) {
        pipeline.downloader.forget(identity)
        pipeline.failedDecodes.forget(identity)
        pipeline.caches.forgetTags(of: identity)
    }
}
