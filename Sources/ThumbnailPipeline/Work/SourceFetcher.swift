import Coordination
import Downloading
import HTTPTypes
import Imaging
import Memory
import Text
import ThumbnailTypes

/// Waits for all sources of a call concurrently, under one receipt and one deadline.
struct SourceFetcher: Sendable {
    let downloader: ImageDownloader
    let caches: CacheLayers
    let broken: BrokenSources
    /// The time limit of the whole request.
    let timeLimit: Duration
    let timekeeper: any Timekeeper

    /// Returns the sources as usable by this caller; nil if one arrived without bytes and its record is gone.
    ///
    /// - Parameter needsBytes: The sources whose bytes are needed; for the others it is enough to know that they are
    ///   unchanged.
    /// - Throws: The error of one source, which cancels this caller's wait for the others.
    func fetch(for call: Call, needsBytes: PerSource<Bool>) async throws -> Fetch? {
        let start = timekeeper.now
        let roles = call.request.roles
        let identities = try call.sources
        let sources = try await identities.mapSideBySide { index, identity -> FetchedSource? in
            if index == 0, let opened = call.opened { return FetchedSource(opened, timeLeft: timeLimit) }
            if index > 0, let file = call.request.additional[index - 1].file {
                return try AdditionalSourceError.attributing(to: roles[index]) {
                    let opened = try OpenedSource(
                        upload: SharedBytes(Array(file.utf8)), at: timekeeper.secondsSince1970)
                    return FetchedSource(opened, timeLeft: timeLimit)
                }
            }
            return try await AdditionalSourceError.attributing(to: roles[index]) {
                try await fetch(identity, for: call, needsBytes: needsBytes[index], since: start)
            }
        }
        return sources.complete().map { Fetch(sources: $0) }
    }

    private func fetch(
        _ identity: SourceIdentity, for call: Call, needsBytes: Bool, since start: Duration
    ) async throws -> FetchedSource? {
        let moment = broken.moment
        let delivery = try await delivery(of: identity, for: call, needsBytes: needsBytes, since: start)
        let record: SourceRecord
        if let known = caches.knownRecord(for: identity), known.validator == delivery.head.validator {
            record = SourceRecord(delivery.head, of: known)
        } else if let bytes = delivery.bytes {
            do throws(ImagingError) {
                record = try SourceRecord(delivery.head, bytes: bytes)
            } catch {
                if !call.directives.noStore { broken.remember(error, of: delivery.head, since: moment) }
                throw error
            }
        } else {
            return nil
        }
        let duration = timekeeper.now - start
        return FetchedSource(
            delivery: delivery, record: record, isStored: !call.directives.noStore && caches.isStored(record),
            now: timekeeper.secondsSince1970, duration: duration, timeLeft: timeLimit - duration)
    }

    private func delivery(
        of identity: SourceIdentity, for call: Call, needsBytes: Bool, since start: Duration
    ) async throws -> Delivery {
        let trace = DownloadTrace(at: start)
        do {
            let delivery = try await downloader.download(
                SourceRequest(
                    identity: identity, directives: call.directives, needsBytes: needsBytes,
                    traceparent: trace?.traceparent),
                receipt: call.receipt, deadline: start + timeLimit)
            trace?.record(delivery, from: identity.url.host, until: timekeeper.now)
            return delivery
        } catch {
            trace?.record(error, from: identity.url.host, until: timekeeper.now)
            throw error
        }
    }
}
