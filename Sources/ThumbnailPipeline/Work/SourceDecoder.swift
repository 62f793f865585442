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
    /// - Returns: Whether it joined a decode.
    func joinExpensiveDecodes(for task: RenderTask) async throws -> Bool {
        try await task.mapDecodes { index, key in
            guard shared.contains(key), costs.cost(of: key, from: task.sources[index].record).isExpensive else {
                return false
            }
            do {
                guard let image = try await shared.join(key) else { return false }
                if !caches.hasPixels(key) { task.imagesInUse.add(image, for: key) }
                return true
            } catch is UnderestimatedDecode, PipelineError.missingBytes {
                // The caller decodes the source itself.
                return false
            }
        }.contains(true)
    }

    /// - Parameters:
    ///   - reservations: Memory for the decodes; nil for pixels that were cached when it was reserved.
    ///   - together: A plan that decodes the image at several levels, if more than this result needs them.
    /// - Throws: ``PipelineError/missingBytes`` if a source's bytes are missing, or the error of a decode.
    func pixels(
        for task: RenderTask, in context: WorkContext, reservations: PerSource<MemoryReservation?>,
        together: DecodePlan? = nil
    ) async throws -> Pixels {
        let imageKey = task.key.decodeKey
        let decoded = try await task.mapDecodes { index, key in
            try await image(
                for: key, from: task.sources[index], in: context, reservation: reservations[index],
                together: key == imageKey ? together : nil)
        }
        let participations = decoded.lazy.map(\.participation)
        return Pixels(
            images: decoded.mapValues(\.value),
            participation: participations.contains(.started)
                ? .started : participations.contains(.joined) ? .joined : .cached)
    }

    /// Decodes the plan's levels in one pass for the results of an opened source.
    func decodeLevels(
        of plan: DecodePlan, from opened: OpenedSource, in context: WorkContext, reservation: MemoryReservation
    ) async throws {
        let image = try await decode(
            opened.file, of: opened.record, for: opened.decodeKey(plan), in: context, reservation: reservation)
        for (image, level) in zip([image] + image.coarser, [plan.level] + plan.coarserLevels) {
            context.imagesInUse.add(image, for: opened.decodeKey(plan.with(level: level)))
        }
    }

    func uncachedPixels(
        for task: RenderTask, in context: WorkContext, reservations: PerSource<MemoryReservation?>
    ) async throws -> PerSource<DecodedImage> {
        try await task.mapDecodes { index, key in
            guard let file = task.sources[index].file else { throw PipelineError.missingBytes }
            return try await decode(
                file, of: task.sources[index].record, for: key, in: context, reservation: reservations[index])
        }
    }

    func image(
        for key: DecodeKey, from source: AvailableSource, in context: WorkContext, reservation: MemoryReservation?,
        together: DecodePlan? = nil
    ) async throws -> (value: DecodedImage, participation: Participation) {
        let record = source.record
        let imagesInUse = context.imagesInUse
        // The pixels were evicted after the cost was estimated: retry as expensive work.
        if context.permit.lane == .small, costs.cost(of: key, from: record).isExpensive, !caches.hasPixels(key),
            !imagesInUse.contains(key)
        {
            throw UnderestimatedDecode()
        }
        let result = try await shared.value(
            for: key, cached: { caches.pixels(for: key) ?? imagesInUse.image(for: key) }
        ) {
            let cached = caches.bytes(of: record).map { SourceFile(bytes: $0, header: record.header) }
            guard let file = source.file ?? cached else { throw PipelineError.missingBytes }
            var image = try await decode(
                file, of: record, for: key, in: context, reservation: reservation, together: together)
            for (coarser, level) in zip(image.coarser, together?.coarserLevels ?? []) {
                imagesInUse.add(coarser, for: key.with(level: level))
            }
            image = image.with(coarser: [])
            caches.storePixels(image, for: key, of: record)
            // Keep the image before the decode is no longer shared, so that the caller's next result finds it.
            imagesInUse.add(image, for: key)
            return image
        }
        // Another request may have decoded it.
        if result.participation != .started { imagesInUse.add(result.value, for: key) }
        return result
    }

    private func decode(
        _ file: SourceFile, of record: SourceRecord, for key: DecodeKey, in context: WorkContext,
        reservation: MemoryReservation?, together: DecodePlan? = nil
    ) async throws -> DecodedImage {
        let cost = file.cost(of: key.plan)
        // Nothing was reserved if the pixels were cached at that time.
        let reservation = try reservation ?? resources.budget.reserveNow(cost, of: context.bill?.tenantFlow)
        var plan = key.plan
        if let together, (try? reservation.grow(by: file.cost(of: together) - cost)) != nil { plan = together }
        defer { reservation.release() }
        let checkpoint = failedDecodes.checkpoint
        do {
            let start = timekeeper.now
            let clock = WorkClock(at: start)
            defer {
                clock.record("decode", format: record.header.format, until: timekeeper.now)
                context.bill?.charge(processor: clock.processorTime.whole)
            }
            let isSmall = !costs.cost(of: key, from: record).isExpensive
            let lanes = resources.lanes
            let decoded = try await (isSmall ? lanes.small : lanes.expensive).run(
                timeLimit: configuration.decodeTimeout, queueTimeout: context.permit.queueTimeout
            ) { [self, plan] token in
                try clock.perform(token, at: timekeeper.now) {
                    try decodeOnThread(
                        file, for: key, plan: plan, isSmall: isSmall, token: token, reservation: reservation)
                }
            }
            let end = timekeeper.now
            context.permit.waits.record(clock.steps(until: end).queue)
            resources.recordDecode(
                decoded, of: key.source, format: record.header.format, in: end - start,
                processor: clock.processorTime.whole)
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

    private func decodeOnThread(
        _ file: SourceFile, for key: DecodeKey, plan: DecodePlan, isSmall: Bool,
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
            let additional = file.cost(of: drawing) - reservation.bytes
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
            caches.forget(key.source, cause: .broken)
        }
    }
}
