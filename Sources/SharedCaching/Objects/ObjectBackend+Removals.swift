import Coordination
import Memory

extension ObjectBackend {
    /// The number of consecutive failed listings after which only known sources are removed.
    private static let maximumFailedListings = 5
    /// The number of sources whose names are read at once before they are removed.
    private static let namesAtOnce = 512

    func remove(_ removal: PendingRemovals.Removal, fulfilling promise: Promise<RemovalState>?) {
        if !state.withLock({ $0.pending.add(removal, fulfilling: promise) }) { promise?.fulfill(.rejected) }
        startDelivery()
    }

    func catchUpWithPurges() async -> Bool { false }

    func startDelivery() {
        deliveries.begin()
        Task.detached { [self] in
            await deliver()
            deliveries.end()
        }
    }

    func deliver() async {
        var hasFailed = false
        for entry in state.withLock({ $0.pending.takeUnsent() }) {
            if hasFailed {
                state.withLock { $0.pending.putBack(entry.number) }
                continue
            }
            do {
                switch entry.removal {
                case .forget(let sources): try await container.replaceGenerations(of: sources)
                case .purge(let notices): try await container.replaceGenerations(of: notices.flatMap(\.sources))
                case .tagged(let removal): try await removeTagged(removal)
                case .everything: try await removeEverything()
                }
                state.withLock { $0.pending.confirm(entry.number) }?.promise?.fulfill(.done)
            } catch {
                state.withLock { $0.pending.putBack(entry.number) }
                hasFailed = true
            }
        }
        if state.withLock({ !$0.pending.isEmpty }) { recover() }
    }

    private func removeEverything() async throws {
        let generation = Generation()
        let now = timekeeper.now
        try await container.store(SharedBytes(generation.bytes), named: ObjectNames.everything, isDurable: true)
        state.withLock { state in
            state.everything = (generation, now)
            state.removals += 1
        }
    }

    /// Removes the sources under a tag, up to the limit of one removal.
    private func removeTagged(_ removal: TagRemoval) async throws {
        let tag = removal.tag
        // Replace the tag's generation first; see ``writeMember(_:under:since:)``.
        try await container.replaceGenerations(of: [SharedSource(label: tag.label)].compactMap(\.self))
        let folder = ObjectNames.members(of: tag)
        guard let names = try await names(in: folder) else { return removal.onSources([], false) }
        var tagged = [NamedSource]()
        var limit = TagRemovalLimit()
        var isComplete = names.count <= TagRemovalLimit.maximumSources
        for start in stride(from: 0, to: min(names.count, TagRemovalLimit.maximumSources), by: Self.namesAtOnce) {
            let batch = Array(names[start..<min(start + Self.namesAtOnce, names.count)])
            let (sources, hasAll) = try await container.members(batch, in: folder, signedBy: signer.derived(under: tag))
            // Also remove sources with unreadable names.
            try await container.replaceGenerations(of: batch.compactMap { SharedSource(label: Array($0.utf8)) })
            tagged = tagged + sources
            isComplete = isComplete && hasAll
            guard sources.allSatisfy({ limit.admit($0.name) }) else {
                isComplete = isComplete && start + batch.count == names.count
                break
            }
        }
        removal.onSources(tagged, isComplete)
    }

    /// Returns the names; nil if the listing has failed several times, perhaps because it is not permitted.
    private func names(in folder: String) async throws -> [String]? {
        do {
            let names = try await container.names(in: folder, atMost: TagRemovalLimit.maximumSources + 1)
            state.withLock { $0.failedListings = 0 }
            return names
        } catch {
            let isLast = state.withLock { state in
                state.failedListings = (state.failedListings + 1) % Self.maximumFailedListings
                return state.failedListings == 0
            }
            if isLast { return nil }
            throw error
        }
    }
}
