package import DiskCaching
import Downloading
package import SharedCaching
package import Telemetry
import Text

/// Performs purges received from other instances, and records its position in them on disk.
package struct FleetPurges: Sendable {
    private static let note = Array("shared-cache/position".utf8)

    private let pipeline: ImagePipeline
    private let store: SharedStore
    private let layer: SharedLayer?
    /// The other shared layers; instances that share one may each have their own of these.
    private let others: [SharedLayer]

    package init(of pipeline: ImagePipeline, announcedBy store: SharedStore) {
        (self.pipeline, self.store) = (pipeline, store)
        layer = pipeline.caches.shared.first { $0.store === store }
        others = pipeline.caches.shared.filter { $0.store !== store }
    }

    /// If the store cannot start, that is logged, and the service runs without a shared cache.
    package func start(beside disk: DiskStore?, logger: Logger) throws {
        guard let disk else {
            return try store.start(PurgeHandlers(onPurge: perform, onGap: performAll))
        }
        // If positions arrive faster than they are written, only the newest counts.
        let (positions, queue) = AsyncStream.makeStream(of: [UInt8].self, bufferingPolicy: .bufferingNewest(1))
        let audience = PurgeHandlers(onPurge: perform, onGap: performAll) { queue.yield($0) }
        Task { [store] in
            let position = await disk.notes().first { $0.name == Self.note }?.bytes
            do {
                try store.start(audience, position: position)
            } catch {
                logger.error("shared cache out of use", ["detail": .string("\(error)")])
            }
        }
        Task {
            // Each is queued after the removals on the disk; the store ends the stream.
            for await position in positions { _ = await disk.store([DiskNote(name: Self.note, bytes: position)]) }
        }
    }

    /// Called on the `shared-cache` thread.
    private func perform(_ purge: PurgeNotice.Subject) {
        let removal = SourceRemoval(from: pipeline)
        switch purge {
        case .sources(let sources):
            var removed: [SourceIdentity] = []
            for source in sources {
                // A source without an identity here cannot be cached here.
                guard let identity = removal.identity(named: source.name) else { continue }
                removal.removeAll(from: identity, cause: .fleet)
                layer?.finish(source, identity)
                removed.append(identity)
            }
            for other in others { other.forget(.sources(removed)) }
        case .everything:
            performAll()
            Task.detached { [others] in for other in others { _ = await other.remove(.everything) } }
        case .tag(let tag):
            // The sources known to the shared cache under the tag are gone; these remain.
            let tag = ExactText(tag.text)
            let rest = pipeline.caches.sources(under: tag)
            for identity in rest { removal.removeAll(from: identity, cause: .fleet) }
            Task.detached { [layer, others, removal] in
                let all = rest.union(await removal.sources(under: tag).sources)
                for identity in all { removal.removeAll(from: identity, cause: .fleet) }
                guard !all.isEmpty else { return }
                for other in others { other.forget(.sources(Array(all))) }
                // Other instances may have them without knowing the tag.
                _ = await layer?.remove(.sources(Array(SourceRemoval.bounded(all).sources)))
            }
        }
    }

    /// Also called after missed purges that are no longer listed.
    private func performAll() {
        pipeline.downloader.forget()
        pipeline.failedDecodes.forget(nil)
        Task.detached { [caches = pipeline.caches] in _ = await caches.removeLocal(.everything) }
    }
}
