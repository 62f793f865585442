import Coordination
import Downloading
import HTTPTypes
import Memory
import Recipes
import Text
import ThumbnailTypes

/// Waits for all sources of a job, under one receipt and one deadline.
struct SourceFetcher: Sendable {
    let downloader: ImageDownloader
    let caches: CacheLayers
    let failedDecodes: FailedDecodes
    let timeLimit: Duration
    let timekeeper: any Timekeeper

    /// Returns nil if one arrived without bytes and its record is gone.
    func fetch(for job: Job, needsBytes: PerSource<Bool>) async throws -> PerSource<AvailableSource>? {
        let start = timekeeper.now
        let roles = job.request.roles
        let sources = try await job.sources.concurrentMap { index, identity -> AvailableSource? in
            if index == 0, let opened = job.opened { return available(opened) }
            return try await AdditionalSourceError.attributing(to: roles[index]) {
                if index > 0, let file = job.request.additional[index - 1].file {
                    let bytes = SharedBytes(Array(file.utf8))
                    return available(try OpenedSource(upload: bytes, at: timekeeper.secondsSince1970))
                }
                return try await fetch(identity, for: job, needsBytes: needsBytes[index], since: start)
            }
        }
        return sources.complete()
    }

    private func available(_ source: OpenedSource) -> AvailableSource {
        AvailableSource(record: source.record, bytes: source.bytes, timeLeft: timeLimit)
    }

    private func fetch(
        _ identity: SourceIdentity, for job: Job, needsBytes: Bool, since start: Duration
    ) async throws -> AvailableSource? {
        let checkpoint = failedDecodes.checkpoint
        let copy = try await copy(of: identity, for: job, needsBytes: needsBytes, since: start)
        let record: SourceRecord
        if let known = caches.knownRecord(for: identity), known.validator == copy.head.validator {
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

    private func copy(
        of identity: SourceIdentity, for job: Job, needsBytes: Bool, since start: Duration
    ) async throws -> SourceCopy {
        let trace = DownloadTrace(at: start)
        do {
            let copy = try await downloader.download(
                SourceRequest(
                    identity: identity, directives: job.directives, needsBytes: needsBytes,
                    traceparent: trace?.traceparent, flow: job.bill?.downloadFlow),
                receipt: job.receipt, deadline: start + timeLimit)
            if copy.participation == .started, copy.exchange?.status != 304 {
                job.bill?.charge(originBytes: copy.bytes?.count ?? 0)
            }
            trace?.record(copy, from: identity.url.host, until: timekeeper.now)
            return copy
        } catch {
            trace?.record(error, from: identity.url.host, until: timekeeper.now)
            throw error
        }
    }
}
