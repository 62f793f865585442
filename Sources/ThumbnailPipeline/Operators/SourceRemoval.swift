import Downloading
import SharedCaching
import Telemetry
import Text

/// Removes sources and all made from them from the parts of one instance.
struct SourceRemoval: Sendable {
    private let pipeline: ImagePipeline

    /// Removes from the parts of `pipeline`.
    init(from pipeline: ImagePipeline) {
        self.pipeline = pipeline
    }

    /// Removes a source; returns the entries that were in memory and on the disk.
    func removedAll(from identity: SourceIdentity) async -> RemovedEntries {
        forget(identity)
        return await pipeline.caches.removedAll(from: identity)
    }

    /// Removes a source from memory at once, and from the disk before anything else is done there.
    func removeAll(from identity: SourceIdentity, cause: PurgeCause) {
        forget(identity)
        pipeline.caches.removeAll(from: identity, cause: cause)
    }

    /// The sources that memory or the disk knows under a tag, and whether these are all.
    func sources(under tag: ExactText) async -> (sources: Set<SourceIdentity>, isComplete: Bool) {
        let inMemory = sourcesInMemory(under: tag)
        guard let disk = pipeline.caches.disk else { return (inMemory, true) }
        let (names, isComplete) = await disk.sourceNames(under: tag)
        return (inMemory.union(names.compactMap { identity(named: $0) }), isComplete)
    }

    /// Those of the sources under a tag that other instances can be told of, and whether these are all.
    static func bounded(_ sources: Set<SourceIdentity>) -> (sources: Set<SourceIdentity>, isComplete: Bool) {
        var room = TagRemovalRoom()
        let told = sources.filter { room.take($0.name) }
        return (told, told.count == sources.count)
    }

    /// The sources that memory knows under a tag.
    func sourcesInMemory(under tag: ExactText) -> Set<SourceIdentity> { pipeline.caches.tags.sources(under: tag) }

    /// The source of this name; nil if it is none here.
    func identity(named name: String) -> SourceIdentity? {
        try? pipeline.downloader.identity(of: ExactText(name))
    }

    private func forget(_ identity: SourceIdentity) {
        pipeline.downloader.forget(identity)
        pipeline.broken.forget(identity)
        pipeline.caches.tags.forget(identity)
    }
}
