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

    /// One attempt to fetch a source for a job.
    private struct Attempt {
        let identity: SourceIdentity
        let job: Job
        let start: Duration
        let checkpoint: FailedDecodes.Checkpoint
    }

    /// Fetches only the preview of a RAW photograph if the origin supports ranges.
    func fetch(for job: Job, needsBytes: PerSource<Bool>) async throws -> PerSource<AvailableSource> {
        let start = timekeeper.now
        let roles = job.request.roles
        return try await job.sources.concurrentMap { index, identity -> AvailableSource in
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
    }

    private func fetch(
        _ identity: SourceIdentity, for job: Job, needsBytes: Bool, since start: Duration
    ) async throws -> AvailableSource {
        let attempt = Attempt(identity: identity, job: job, start: start, checkpoint: failedDecodes.checkpoint)
        var copy = try await download(attempt, needsBytes: needsBytes, scan: scan(for: identity))
        if let ranges = copy.ranges {
            if let preview = RAWPreview(ranges) { return source(copy, preview: preview, in: attempt) }
            copy = try await download(attempt, needsBytes: needsBytes, scan: nil)
        }
        if let record = try record(of: copy, in: attempt) { return source(copy, record: record, in: attempt) }
        // The source is unchanged, but its record has been evicted meanwhile.
        return try await fetch(identity, for: job.retry, needsBytes: true, since: timekeeper.now)
    }

    /// Fetches only the bytes that describe the source.
    func describe(_ identity: SourceIdentity, for job: Job, needsBytes: Bool) async throws -> AvailableSource {
        let attempt = Attempt(identity: identity, job: job, start: timekeeper.now, checkpoint: failedDecodes.checkpoint)
        let copy = try await download(attempt, needsBytes: needsBytes, scan: .header)
        let known = caches.partialRecord(of: identity)
        if let ranges = copy.ranges {
            let partial = try remembering(attempt, of: copy.head) { () throws(ImagingError) in
                try PartialRecord(ranges)
            }
            return source(copy, record: partial.whole, isStored: known?.head === partial.head, in: attempt)
        }
        if let record = try record(of: copy, in: attempt) { return source(copy, record: record, in: attempt) }
        if let known, known.head.validator == copy.head.validator {
            return source(copy, record: PartialRecord(copy.head, of: known).whole, isStored: true, in: attempt)
        }
        // The source is unchanged, but its record has been evicted meanwhile.
        return try await describe(identity, for: job.retry, needsBytes: true)
    }

    /// The scan for the preview if the stored header or the name says that the file is RAW; otherwise nil.
    func scan(for identity: SourceIdentity) -> SourceScan? {
        let known = caches.recordInMemory(for: identity)?.header ?? caches.partialRecord(of: identity)?.header
        let isRAW = known.map { $0.format == .raw } ?? identity.isNamedRAW
        return isRAW ? .preview : nil
    }

    /// Returns the record of a whole source; nil if it is unknown, because the source was not sent again.
    private func record(of copy: SourceCopy, in attempt: Attempt) throws -> SourceRecord? {
        if let known = caches.storedRecord(of: copy.head.version) { return SourceRecord(copy.head, of: known) }
        guard let bytes = copy.bytes else { return nil }
        return try remembering(attempt, of: copy.head) { () throws(ImagingError) in
            try SourceRecord(copy.head, bytes: bytes)
        }
    }

    /// Reads a header, and remembers if that fails.
    private func remembering<Value>(
        _ attempt: Attempt, of head: SourceHead, _ read: () throws(ImagingError) -> Value
    ) throws(ImagingError) -> Value {
        do throws(ImagingError) {
            return try read()
        } catch {
            if !attempt.job.directives.noStore { failedDecodes.remember(error, of: head, since: attempt.checkpoint) }
            throw error
        }
    }

    private func source(_ copy: SourceCopy, preview: RAWPreview, in attempt: Attempt) -> AvailableSource {
        let head = preview.record.head
        let known = caches.storedRecord(of: head.version)
        var source = source(
            copy, record: known.map { SourceRecord(head, of: $0) } ?? preview.record, isStored: false, in: attempt)
        source.preview = preview
        return source
    }

    /// - Parameter isStored: Nil checks whether the caches have the record and the bytes.
    private func source(
        _ copy: SourceCopy, record: SourceRecord, isStored: Bool? = nil, in attempt: Attempt
    ) -> AvailableSource {
        let duration = timekeeper.now - attempt.start
        return AvailableSource(
            copy, record: record, isStored: !attempt.job.directives.noStore && isStored ?? caches.isStored(record),
            now: timekeeper.secondsSince1970, duration: duration, timeLeft: timeLimit - duration)
    }

    private func download(_ attempt: Attempt, needsBytes: Bool, scan: SourceScan?) async throws -> SourceCopy {
        let host = attempt.identity.url.host
        let trace = DownloadTrace(at: attempt.start)
        do {
            let copy = try await downloader.downloadNeededBytes(
                of: SourceRequest(
                    identity: attempt.identity, directives: attempt.job.directives, needsBytes: needsBytes, scan: scan,
                    traceparent: trace?.traceparent, flow: attempt.job.bill?.tenantFlow),
                receipt: attempt.job.receipt, deadline: attempt.start + timeLimit)
            attempt.job.bill?.charge(originBytes: copy.startedBytes)
            trace?.record(copy, from: host, until: timekeeper.now)
            return copy
        } catch {
            trace?.record(error, from: host, until: timekeeper.now)
            throw error
        }
    }
}
