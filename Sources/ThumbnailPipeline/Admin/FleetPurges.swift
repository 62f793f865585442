import Coordination
package import DiskCaching
import Downloading
package import SharedCaching
package import Telemetry
import Text

/// Performs purges received from other instances, and records its position in them on disk.
package struct FleetPurges: Sendable {
    private static let positionName = Array("shared-cache/position".utf8)

    private let pipeline: ImagePipeline
    private let store: SharedStore
    private let announcingLayer: SharedLayer?
    /// Instances may have different ones.
    private let otherLayers: [SharedLayer]
    private let removals = RemovalsInProgress()

    package init(of pipeline: ImagePipeline, announcedBy store: SharedStore) {
        self.pipeline = pipeline
        self.store = store
        announcingLayer = pipeline.caches.shared.first { $0.store === store }
        otherLayers = pipeline.caches.shared.filter { $0.store !== store }
    }

    /// Starts the store; with a disk, in the background, where a failure is logged and disables the shared cache.
    package func start(beside disk: DiskStore?, logger: Logger) throws {
        guard let disk else { return try store.start(PurgeHandlers(onPurge: perform, onGap: purgeEverything)) }
        let (positions, queue) = AsyncStream.makeStream(of: Position.self, bufferingPolicy: .bufferingNewest(1))
        let handlers = PurgeHandlers(onPurge: perform, onGap: purgeEverything) { [removals] position in
            queue.yield(Position(bytes: position, removals: removals.all))
        }
        Task { [store] in
            let position = await disk.notes().first { $0.name == Self.positionName }?.bytes
            do {
                try store.start(handlers, position: position)
            } catch {
                logger.error("shared cache disabled", ["detail": .string("\(error)")])
            }
        }
        Task {
            // The next process resumes at the stored position.
            for await position in positions {
                await position.removals?.value
                _ = await disk.store([DiskNote(name: Self.positionName, bytes: position.bytes)])
            }
        }
    }

    /// The position to write next; a newer one replaces it.
    private struct Position {
        let bytes: [UInt8]
        /// The removals before the position, which must end first.
        let removals: Task<Void, Never>?
    }

    /// Called on the `shared-cache` thread.
    private func perform(_ purge: PurgeNotice.Subject) {
        let remover = SourceRemover(from: pipeline)
        switch purge {
        case .sources(let sources):
            var removed: [SourceIdentity] = []
            for source in sources {
                // This instance's settings do not allow the source, so there are no copies.
                guard let identity = remover.identity(named: source.name) else { continue }
                remover.forget(identity, cause: .fleet)
                announcingLayer?.completePurge(of: source, as: identity)
                removed.append(identity)
            }
            for other in otherLayers { other.forget(.sources(removed)) }
        case .everything:
            purgeEverything()
            removals.begin { [otherLayers] in for other in otherLayers { _ = await other.purge(.everything) } }
        case .tag(let tag):
            // The shared cache has purged the sources that it knows under the tag; purge those known only here.
            let tag = ExactText(tag.text)
            let known = pipeline.caches.sources(under: tag)
            for identity in known { remover.forget(identity, cause: .fleet) }
            removals.begin { [announcingLayer, otherLayers, remover] in
                let all = known.union(await remover.sources(under: tag).identities)
                for identity in all { remover.forget(identity, cause: .fleet) }
                guard !all.isEmpty else { return }
                for other in otherLayers { other.forget(.sources(Array(all))) }
                // Other instances may hold copies without knowing the tag.
                _ = await announcingLayer?.purge(.sources(Array(SourceRemover.bounded(all).identities)))
            }
        }
    }

    /// Purges everything on this instance; also called if missed purges are no longer in the log.
    private func purgeEverything() {
        pipeline.downloader.forget()
        pipeline.failedDecodes.forget(nil)
        removals.begin { [caches = pipeline.caches] in _ = await caches.purgeLocal(.everything) }
    }
}

final class RemovalsInProgress: Sendable {
    private let last = Locked<Task<Void, Never>?>(nil)

    func begin(_ work: @escaping @Sendable () async -> Void) {
        // Safe under the lock: creating a task only enqueues it.
        last.withLock { last in
            let earlier = last
            let new = Task.detached { await work() }
            last = Task.detached {
                await earlier?.value
                await new.value
            }
        }
    }

    /// A task that ends when all removals begun so far have ended; nil if there were none.
    var all: Task<Void, Never>? { last.withLock { $0 } }
}
