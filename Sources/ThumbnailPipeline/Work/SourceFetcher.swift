import Coordination
import Downloading
import HTTPTypes
import Memory
import Recipes
import Telemetry
import Text
import ThumbnailTypes

/// Fetches all sources of a job, under one receipt and one deadline.
struct SourceFetcher: Sendable {
    let downloader: ImageDownloader
    let caches: CacheLayers
    let failedDecodes: FailedDecodes
    let timeLimit: Duration
    let timekeeper: any Timekeeper

    /// Returns nil if a source is unchanged, but its record was evicted.
    ///
    /// Fetches only the preview of a RAW photograph if the origin supports ranges.
    func fetch(for job: Job, needsBytes: PerSource<Bool>) async throws -> PerSource<AvailableSource>? {
        let start = timekeeper.now
        let roles = job.request.roles
        let sources = try await job.sources.concurrentMap { index, identity -> AvailableSource? in
            if index == 0, let opened = job.opened { return AvailableSource(opened, timeLeft: timeLimit) }
            return try await AdditionalSourceError.attributing(to: roles[index]) {
                if index > 0, let file = job.request.additional[index - 1].file {
                    let bytes = SharedBytes(Array(file.utf8))
                    let opened = try OpenedSource(upload: bytes, at: timekeeper.secondsSince1970)
                    return AvailableSource(opened, timeLeft: timeLimit)
                }
                return try await fetch(identity, for: job, needsBytes: needsBytes[index], since: start)
            }
        }
        return sources.unwrapped()
    }

    private func fetch(
        _ identity: SourceIdentity, for job: Job, needsBytes: Bool, since start: Duration
    ) async throws -> AvailableSource? {
        let checkpoint = failedDecodes.checkpoint
        var fetched = try await download(
            identity, for: job, needsBytes: needsBytes, scan: scan(for: identity), since: start)
        if case .partial(let copy) = fetched {
            if let source = source(from: copy, since: start) { return source }
            fetched = try await download(identity, for: job, needsBytes: needsBytes, scan: nil, since: start)
        }
        return try source(from: fetched.whole, for: job, since: start, checkpoint: checkpoint)
    }

    /// The scan for the preview if the stored header or the name says that the file is RAW; otherwise nil.
    func scan(for identity: SourceIdentity) -> SourceScan? {
        let known = caches.recordInMemory(for: identity)?.header ?? caches.partialRecord(of: identity)?.header
        let isRAW = known.map { $0.format == .raw } ?? identity.isNamedRAW
        return isRAW ? .preview : nil
    }

    private func source(from copy: PartialCopy, since start: Duration) -> AvailableSource? {
        guard let preview = RAWPreview(copy.source) else { return nil }
        var record = preview.record
        if let known = caches.storedRecord(of: record.version) {
            record = SourceRecord(record.head, of: known)
        }
        let duration = timekeeper.now - start
        return AvailableSource(
            copy, preview: preview, record: record, now: timekeeper.secondsSince1970, duration: duration,
            timeLeft: timeLimit - duration)
    }

    /// Fetches only the bytes that describe the source; returns nil if it is unchanged, but its record was evicted.
    func describe(_ identity: SourceIdentity, for job: Job, needsBytes: Bool) async throws -> DescribedSource? {
        let start = timekeeper.now
        let checkpoint = failedDecodes.checkpoint
        let fetched = try await download(identity, for: job, needsBytes: needsBytes, scan: .header, since: start)
        switch fetched {
        case .whole(let copy):
            if let source = try source(from: copy, for: job, since: start, checkpoint: checkpoint) {
                return DescribedSource(source)
            }
            guard let partial = caches.partialRecord(of: identity), partial.head.validator == copy.head.validator else {
                return nil
            }
            return describedSource(
                PartialRecord(copy.head, of: partial), from: fetched, isStored: true, since: start)
        case .partial(let copy):
            do throws(ImagingError) {
                let partial = try PartialRecord(copy.source)
                let isStored = !job.directives.noStore && caches.partialRecord(of: identity)?.head === partial.head
                return describedSource(partial, from: fetched, isStored: isStored, since: start)
            } catch {
                if !job.directives.noStore { failedDecodes.remember(error, of: copy.source.head, since: checkpoint) }
                throw error
            }
        }
    }

    private func describedSource(
        _ partial: PartialRecord, from fetched: FetchedSource, isStored: Bool, since start: Duration
    ) -> DescribedSource {
        var source = DescribedSource(partial)
        source.status = CacheLayerStatus(
            after: fetched, isStored: isStored,
            secondsLeft: partial.head.freshness.remainingLifetime(at: timekeeper.secondsSince1970))
        source.timings = fetched.timings(in: timekeeper.now - start)
        return source
    }

    private func source(
        from copy: SourceCopy, for job: Job, since start: Duration, checkpoint: FailedDecodes.Checkpoint
    ) throws -> AvailableSource? {
        let record: SourceRecord
        if let known = caches.storedRecord(of: copy.head.version) {
            record = SourceRecord(copy.head, of: known)
        } else if let bytes = copy.bytes {
            do throws(ImagingError) {
                record = try SourceRecord(copy.head, bytes: bytes)
            } catch {
                if !job.directives.noStore { failedDecodes.remember(error, of: copy.head, since: checkpoint) }
                throw error
            }
        } else {
            return nil
        }
        let duration = timekeeper.now - start
        return AvailableSource(
            copy, record: record, isStored: !job.directives.noStore && caches.isStored(record),
            now: timekeeper.secondsSince1970, duration: duration, timeLeft: timeLimit - duration)
    }

    private func download(
        _ identity: SourceIdentity, for job: Job, needsBytes: Bool, scan: SourceScan?, since start: Duration
    ) async throws -> FetchedSource {
        let trace = DownloadTrace(at: start)
        do {
            let fetched = try await downloader.downloadNeededBytes(
                of: SourceRequest(
                    identity: identity, directives: job.directives, needsBytes: needsBytes, scan: scan,
                    traceparent: trace?.traceparent, flow: job.bill?.tenantFlow),
                receipt: job.receipt, deadline: start + timeLimit)
            job.bill?.charge(originBytes: fetched.startedBytes)
            trace?.record(fetched, from: identity.url.host, until: timekeeper.now)
            return fetched
        } catch {
            trace?.record(error, from: identity.url.host, until: timekeeper.now)
            throw error
        }
    }
}
