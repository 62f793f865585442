import DiskCaching
import Downloading
import SharedCaching
import Telemetry
import Text

struct SourceRemover: Sendable {
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

    /// Returns the sources with a tag that this instance knows.
    func sources(under tag: ExactText) async -> FoundSources {
        var found = FoundSources(identities: pipeline.caches.sources(under: tag))
        for layer in pipeline.caches.local {
            let known = await layer.sources(under: tag)
            found.identities.formUnion(known.labels.compactMap { identity(named: $0) })
            found.isComplete = found.isComplete && known.isComplete
        }
        return found
    }

    /// Limits the sources to the number that can be announced to other instances.
    static func bounded(_ identities: Set<SourceIdentity>) -> FoundSources {
        var limit = TagRemovalLimit()
        let bounded = identities.filter { limit.admit($0.name) }
        return FoundSources(identities: bounded, isComplete: bounded.count == identities.count)
    }

    func identity(named name: String) -> SourceIdentity? { try? pipeline.downloader.identity(of: ExactText(name)) }

    private func forgetFailuresAndTags(of identity: SourceIdentity) {
        pipeline.downloader.forget(identity)
        pipeline.failedDecodes.forget(identity)
        pipeline.caches.forgetTags(of: identity)
    }
}

struct FoundSources {
    var identities: Set<SourceIdentity>
    /// False if a layer could not list all its sources, or if there were too many.
    var isComplete = true
}
