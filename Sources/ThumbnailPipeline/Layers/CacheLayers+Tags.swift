import Coordination
import Downloading
import HTTPTypes
import Text

extension CacheLayers {
    /// Runs `body` and, if it succeeds, records the tags; a purge by these tags finds the source even before.
    func recordingTags<Value>(
        _ identity: SourceIdentity, under tags: [ExactText], by client: ClientNetwork?,
        _ serve: () async throws -> Value
    ) async throws -> Value {
        guard !tags.isEmpty, !identity.isUpload else { return try await serve() }
        let identity = identity.wildcard
        let missing = tagIndex.withLock { $0.beginWait(for: identity, under: tags) }
        defer { tagIndex.withLock { $0.endWait(for: identity, under: tags) } }
        let checkpoints =
            missing.isEmpty
            ? [:] : shared.reduce(into: [:]) { $0[$1.name] = $1.checkpoints(of: missing, for: identity) }
        let value = try await serve()
        recordTags(tags, of: identity, by: client, since: checkpoints)
        return value
    }

    /// - Parameters:
    ///   - client: The client whose tags are limited; nil for trusted tags.
    ///   - checkpoints: The states of the tags before the source was requested.
    func recordTags(
        _ tags: [ExactText], of identity: SourceIdentity, by client: ClientNetwork?,
        since checkpoints: [LayerName: TagCheckpoints] = [:]
    ) {
        guard !tags.isEmpty, !identity.isUpload else { return }
        let identity = identity.wildcard
        let now = timekeeper.now
        let recorded = tagIndex.withLock { $0.record(tags, of: identity, by: client, at: now) }
        for source in recorded.dropped {
            recordChange(of: source)
            memory.forget(.sources([source]))
        }
        recordBelowMemory(recorded.added, of: identity, since: checkpoints)
    }

    /// Records the source's tags again in the layers below memory, together with a new record.
    func recordTags(of identity: SourceIdentity) {
        let identity = identity.wildcard
        recordBelowMemory(tagIndex.withLock { $0.tags(of: identity) }, of: identity)
    }

    private func recordBelowMemory(
        _ tags: [ExactText], of identity: SourceIdentity, since checkpoints: [LayerName: TagCheckpoints] = [:]
    ) {
        guard !tags.isEmpty else { return }
        for layer in belowMemory { layer.recordTags(tags, of: identity, since: checkpoints[layer.name] ?? [:]) }
    }

    func sources(under tag: ExactText) -> Set<SourceIdentity> { tagIndex.withLock { $0.sources(under: tag) } }

    func forgetTags(of identity: SourceIdentity) { tagIndex.withLock { $0.forget(identity) } }
}
