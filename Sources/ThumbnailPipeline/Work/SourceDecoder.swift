import Coordination
import Imaging
import Memory
import Recipes
import Telemetry
import ThumbnailTypes

struct SourceDecoder: Sendable {
    /// The pixels of all sources of a render, and whether it started or joined their decodes.
    struct Pixels {
        let images: PerSource<DecodedImage>
        /// `started` if it started any decode, otherwise `joined` if it joined any, otherwise `cached`.
        let participation: Participation
    }

    let configuration: PipelineConfiguration
    let resources: WorkResources
    let caches: CacheLayers
    let failedDecodes: FailedDecodes
    let costs: DecodeCosts
    let timekeeper: any Timekeeper
    let shared = SharedTasks<DecodeKey, DecodedImage>()

    /// Waits for expensive decodes of other requests before waiting for a permit, so that none is held while waiting.
    ///
    /// - Parameter imagesInUse: Receives images that are not cached.
    /// - Returns: Whether it joined a decode.
    func joinExpensiveDecodes(
        for key: ResultKey, from sources: PerSource<AvailableSource>, for job: Job, imagesInUse: ImagesInUse
    ) async throws -> Bool {
        let roles = job.request.roles
        return try await key.decodeKeys.concurrentMap { index, key in
            guard shared.contains(key), costs.cost(of: key, from: sources[index].record).isExpensive else {
                return false
            }
            return try await AdditionalSourceError.attributing(to: roles[index]) {
                do {
                    guard let image = try await shared.join(key) else { return false }
                    if !caches.hasPixels(key) { imagesInUse.add(image, for: key) }
                    return true
                } catch is UnderestimatedDecode, PipelineError.sourceNeeded {
                    // The caller decodes the source itself.
                    return false
                }
            }
        }.contains(true)
    }

    /// - Parameters:
    ///   - reservations: Memory for the decodes; nil for pixels that were cached when it was reserved.
    ///   - together: A plan that decodes the image at several levels, if more than this result needs them.
    /// - Throws: ``PipelineError/sourceNeeded`` if a source's bytes are missing, or the error of a decode.
    func pixels(
        for key: ResultKey, from sources: PerSource<AvailableSource>, for job: Job, imagesInUse: ImagesInUse,
        permit: WorkPermit, reservations: PerSource<MemoryReservation?>, together: DecodePlan? = nil
    ) async throws -> Pixels {
        let roles = job.request.roles
        let imageKey = key.decodeKeys.image
        let decoded = try await key.decodeKeys.concurrentMap { index, key in
            try await AdditionalSourceError.attributing(to: roles[index]) {
                try await image(
                    for: key, from: sources[index], imagesInUse: imagesInUse, permit: permit,
                    reservation: reservations[index], together: key == imageKey ? together : nil, bill: job.bill)
            }
        }
        let participations = decoded.lazy.map(\.participation)
        return Pixels(
            images: decoded.mapValues(\.value),
            participation: participations.contains(.started)
                ? .started : participations.contains(.joined) ? .joined : .cached)
    }

    /// Decodes the plan's levels in one pass for the results of an opened source.
    func decode(
        _ plan: DecodePlan, of opened: OpenedSource, permit: WorkPermit, reservation: MemoryReservation,
        bill: RequestBill?
    ) async throws {
        let image = try await decode(
            opened.file, of: opened.record, for: opened.decodeKey(plan), permit: permit, reservation: reservation,
            bill: bill)
        for (image, level) in zip([image] + image.coarser, [plan.level] + plan.coarserLevels) {
            opened.imagesInUse.add(image, for: opened.decodeKey(plan.with(level: level)))
        }
    }

    func unsharedPixels(
        for key: ResultKey, from sources: PerSource<AvailableSource>, for job: Job, permit: WorkPermit,
        reservations: PerSource<MemoryReservation?>
    ) async throws -> PerSource<DecodedImage> {
        let roles = job.request.roles
        return try await key.decodeKeys.concurrentMap { index, key in
            try await AdditionalSourceError.attributing(to: roles[index]) {
                guard let file = sources[index].file else { throw PipelineError.sourceNeeded }
                return try await decode(
                    file, of: sources[index].record, for: key, permit: permit, reservation: reservations[index],
                    bill: job.bill)
            }
        }
    }

    func image(
        for key: DecodeKey, from source: AvailableSource, imagesInUse: ImagesInUse, permit: WorkPermit,
        reservation: MemoryReservation?, together: DecodePlan? = nil, bill: RequestBill?
    ) async throws -> (value: DecodedImage, participation: Participation) {
        let record = source.record
        // The pixels were evicted after the cost was estimated: retry as expensive work.
        if permit.lane == .small, costs.cost(of: key, from: record).isExpensive, !caches.hasPixels(key),
            !imagesInUse.contains(key)
        {
            throw UnderestimatedDecode()
        }
        let result = try await shared.value(
            for: key, cached: { caches.pixels(for: key) ?? imagesInUse.image(for: key) }
        ) {
            guard let file = source.file ?? caches.bytes(of: record).map({ ($0, record.header) }) else {
                throw PipelineError.sourceNeeded
            }
            var image = try await decode(
                file, of: record, for: key, together: together, permit: permit, reservation: reservation, bill: bill)
            for (coarser, level) in zip(image.coarser, together?.coarserLevels ?? []) {
                imagesInUse.add(coarser, for: key.with(level: level))
            }
            image = image.with(coarser: [])
            caches.store(image, for: key, of: record)
            // Keep the image before the decode is no longer shared, so that the caller's next result finds it.
            imagesInUse.add(image, for: key)
            return image
        }
        // Another request may have decoded it.
        if result.participation != .started { imagesInUse.add(result.value, for: key) }
        return result
    }

    private func decode(
        _ file: (bytes: SharedBytes, header: ImageHeader), of record: SourceRecord, for key: DecodeKey,
        together: DecodePlan? = nil, permit: WorkPermit, reservation: MemoryReservation?, bill: RequestBill?
    ) async throws -> DecodedImage {
        let cost = file.header.cost(of: key.plan, fileByteCount: file.bytes.count)
        // Nothing was reserved if the pixels were cached at that time.
        let reservation = try reservation ?? resources.budget.reserveNow(cost, of: bill?.tenantFlow)
        var plan = key.plan
        if let together {
            let additional = file.header.cost(of: together, fileByteCount: file.bytes.count) - cost
            if (try? reservation.grow(by: additional)) != nil { plan = together }
        }
        defer { reservation.release() }
        let checkpoint = failedDecodes.checkpoint
        do {
            let start = timekeeper.now
            let clock = WorkClock(at: start)
            defer {
                clock.record("decode", format: record.header.format, until: timekeeper.now)
                bill?.charge(processor: clock.wholeProcessorTime)
            }
            let isSmall = !costs.cost(of: key, from: record).isExpensive
            let lanes = resources.lanes
            let decoded = try await (isSmall ? lanes.small : lanes.expensive).run(
                timeLimit: configuration.decodeTimeout, queueTimeout: permit.queueTimeout
            ) { [self, plan] token in
                try clock.perform(token, at: timekeeper.now) {
                    try decode(
                        file, for: key, plan: plan, isSmall: isSmall, token: token, reservation: reservation)
                }
            }
            let end = timekeeper.now
            let steps = clock.steps(until: end)
            permit.waits.record(steps.queue)
            resources.recordDecode(
                decoded, of: key.source, format: record.header.format, in: end - start, work: clock.wholeProcessorTime)
            failedDecodes.forget(key.plan, of: key.source)
            if decoded.isIncomplete, caches.isCurrent(record) {
                caches.markIncomplete(record, until: timekeeper.now + .seconds(Freshness.maximumLifetimeOfIncomplete))
            }
            return decoded
        } catch let error as UnderestimatedDecode {
            costs.recordUnderestimate(of: key.source)
            throw error
        } catch let error as ImagingError {
            if caches.isCurrent(record) { remember(error, of: record, for: key, since: checkpoint) }
            throw error
        }
    }

    private func decode(
        _ file: (bytes: SharedBytes, header: ImageHeader), for key: DecodeKey, plan: DecodePlan, isSmall: Bool,
        token: WorkToken, reservation: MemoryReservation
    ) throws -> DecodedImage {
        var limits = configuration.rules.limits
        limits.endsUnderestimatedDecodes = isSmall
        guard let border = key.border else {
            let image = key.withoutGainMap.flatMap { caches.pixels(for: $0) }
            return try resources.codec.decodeWithGainMap(
                file.bytes, header: file.header, plan: plan, limits: limits, token: token, of: image)
        }
        return try resources.codec.draw(
            file.bytes, inside: border, header: file.header, plan: key.plan, limits: limits, token: token
        ) { drawing in
            // The first drawing's memory is free again, so only the difference is reserved.
            let additional = file.header.cost(of: drawing, fileByteCount: file.bytes.count) - reservation.bytes
            if additional > 0 { try reservation.grow(by: additional) }
        }
    }

    /// Remembers the failure, and removes a file that cannot be decoded, so that it is fetched again later.
    ///
    /// A source stays if only a later frame is broken or any decode succeeded.
    private func remember(
        _ error: ImagingError, of record: SourceRecord, for key: DecodeKey, since checkpoint: FailedDecodes.Checkpoint
    ) {
        failedDecodes.remember(error, of: key.plan, in: record, since: checkpoint)
        if key.plan.isFirstPage, error.isFaultOfSource, !caches.memory.hasDerived(from: key.source) {
            caches.removeAll(from: key.source, cause: .broken)
        }
    }
}
