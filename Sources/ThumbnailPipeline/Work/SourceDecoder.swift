import Coordination
import Imaging
import Memory
import Telemetry
import ThumbnailTypes

/// Decodes sources: each level once for all renders that need its pixels.
struct SourceDecoder: Sendable {
    /// The pixels of all sources of a render, and how the render took part in their decodes.
    struct Pixels {
        let images: PerSource<DecodedImage>
        /// `started` if the render started any of the decodes, otherwise `joined` if it joined any, otherwise `cached`.
        let participation: Participation
    }

    let configuration: PipelineConfiguration
    let resources: WorkResources
    let caches: CacheLayers
    let broken: BrokenSources
    let timekeeper: any Timekeeper
    let shared = SharedTasks<DecodeKey, DecodedImage>()

    /// Returns the pixels of all sources of a job, from the cache or from concurrent decodes.
    ///
    /// - Parameters:
    ///   - patience: The timeout of the wait for a worker.
    ///   - rooms: The memory for the decodes; nil if there was nothing to decode when it was reserved.
    /// - Throws: ``PipelineError/sourceNeeded`` if a source's bytes are missing, or the error of a decode.
    func pixels(
        for job: RenderJob, queueTimeout: Duration, rooms: PerSource<MemoryReservation?>
    ) async throws -> Pixels {
        let decodes = job.decodes
        let roles = job.roles
        let found = try await decodes.mapSideBySide { index, decode in
            try await AdditionalSourceError.attributing(to: roles[index]) {
                try await image(for: decode, held: job.held, queueTimeout: queueTimeout, room: rooms[index])
            }
        }
        let participations = found.lazy.map(\.participation)
        return Pixels(
            images: found.mapValues(\.image),
            participation: participations.contains(.started)
                ? .started : participations.contains(.joined) ? .joined : .cached)
    }

    /// Returns the pixels of all sources of a job, decoded for this job alone.
    func unsharedPixels(
        for job: RenderJob, queueTimeout: Duration, rooms: PerSource<MemoryReservation?>
    ) async throws -> PerSource<DecodedImage> {
        let roles = job.roles
        return try await job.decodes.mapSideBySide { index, decode in
            try await AdditionalSourceError.attributing(to: roles[index]) {
                guard let bytes = decode.bytes else { throw PipelineError.sourceNeeded }
                return try await self.decode(bytes, for: decode, queueTimeout: queueTimeout, room: rooms[index])
            }
        }
    }

    private func image(
        for job: DecodeJob, held: ImagesInUse?, queueTimeout: Duration, room: MemoryReservation?
    ) async throws -> (image: DecodedImage, participation: Participation) {
        let (image, participation) = try await shared.value(
            for: job.key, cached: { caches.memory.decoded.value(for: job.key) ?? held?.image(for: job.key) }
        ) {
            guard let bytes = job.bytes ?? caches.memory.bytes(of: job.record) else { throw PipelineError.sourceNeeded }
            let image = try await decode(bytes, for: job, queueTimeout: queueTimeout, room: room)
            caches.store(image, for: job.key, of: job.record)
            // Before the decode is forgotten, so that the caller's next result finds it.
            held?.hold(image, for: job.key)
            return image
        }
        // Others may have decoded it.
        if participation != .started { held?.hold(image, for: job.key) }
        return (image, participation)
    }

    private func decode(
        _ bytes: SharedBytes, for job: DecodeJob, queueTimeout: Duration, room: MemoryReservation?
    ) async throws -> DecodedImage {
        let (key, record, limits) = (job.key, job.record, configuration.rules.limits)
        // Nothing was reserved if the pixels were cached a moment ago.
        let room =
            try room
            ?? resources.budget.reserveNow(record.header.cost(of: key.plan, fileByteCount: bytes.count))
        defer { room.release() }
        let moment = broken.moment
        do {
            let start = timekeeper.now
            let trace = WorkTrace(at: start)
            defer { trace?.record("decode", record.header.format, until: timekeeper.now) }
            let cost = key.timeCost(of: record.header, fileByteCount: bytes.count)
            let image = key.withoutGainMap.flatMap { caches.memory.decoded.value(for: $0) }
            let decoded = try await resources.lanes.workers(for: cost).run(
                timeLimit: configuration.decodeTimeout, queueTimeout: queueTimeout
            ) { [codec = resources.codec, timekeeper] token in
                trace?.begin(token, at: timekeeper.now)
                guard let border = key.border else {
                    return try codec.decodeWithGainMap(
                        bytes, header: record.header, plan: key.plan, limits: limits, token: token, of: image)
                }
                return try codec.draw(
                    bytes, inside: border, header: record.header, plan: key.plan, limits: limits, token: token
                ) { drawing in
                    // The first drawing is gone.
                    let more = record.header.cost(of: drawing, fileByteCount: bytes.count) - room.bytes
                    if more > 0 { try room.grow(by: more, for: .work) }
                }
            }
            resources.decoded(key.source, record.header.format, in: timekeeper.now - start)
            broken.forget(key.plan, of: key.source)
            if decoded.isIncomplete, caches.isCurrent(record) {
                caches.limit(record, until: timekeeper.now + .seconds(Freshness.maximumLifetimeOfIncomplete))
            }
            return decoded
        } catch let error as ImagingError {
            if caches.isCurrent(record) {
                broken.remember(error, key.plan, of: record, since: moment)
                // A file that cannot be decoded is not worth keeping: the origin is contacted again, but not at once
                // for every request. If only a later frame is broken, or animation exceeds a limit, the rest of it is
                // worth keeping; so is a source with any successful decode.
                if key.plan.isFirstPage, error.isFaultOfSource, !caches.memory.hasDerived(from: key.source) {
                    caches.removeAll(from: key.source, cause: .broken)
                }
            }
            throw error
        }
    }
}
