import Coordination
import Downloading
import Memory
import Telemetry
package import Text
package import ThumbnailTypes
import Webhooks

package struct SourceRefresh: Sendable {
    package enum Result: String, Sendable {
        case unchanged
        /// The source changed; results of the earlier version are no longer served.
        case changed
        /// The origin has no such source; the copies are removed.
        case gone
        case failed
    }

    package let result: Result
    package var failure: (any ServiceError)?
}

extension PipelineControl {
    package func cancelDownloads(of source: ExactText) throws -> CanceledDownloads {
        let identity = try pipeline.downloader.identity(of: source)
        let all = [identity] + pipeline.downloader.rules.tenantIdentities(of: identity)
        let canceled = all.map { pipeline.downloader.cancelAll(of: $0.wildcard) }
        return CanceledDownloads(
            downloads: canceled.reduce(0) { $0 + $1.downloads }, callers: canceled.reduce(0) { $0 + $1.callers })
    }

    package func sourceName(of source: ExactText) throws -> ExactText {
        ExactText(try pipeline.downloader.identity(of: source).name)
    }

    package func refresh(source: ExactText, receipt: String) async throws -> SourceRefresh {
        let identity = try pipeline.downloader.identity(of: source)
        let refresh = try await refresh(identity, name: source, receipt: receipt)
        if [.changed, .gone].contains(refresh.result) {
            SourceRemover(from: pipeline).forgetTenantCopies(of: identity, includesServiceRules: hasTenants)
            notifier?.notify(CompletedPurge(sources: [identity.name]))
        }
        return refresh
    }

    private func refresh(
        _ identity: SourceIdentity, name source: ExactText, receipt: String
    ) async throws -> SourceRefresh {
        let known = await pipeline.caches.lookUpRecord(for: identity)
        // Read before the transfer replaces it.
        let knownBytes = if let known { await bytes(of: known) } else { SharedBytes?.none }
        do {
            let copy = try await fetchedCopy(of: identity, receipt: receipt)
            guard let known else { return SourceRefresh(result: .changed) }
            if copy.exchange?.status == 304 || copy.head.validator == known.validator {
                return SourceRefresh(result: .unchanged)
            }
            return SourceRefresh(result: await isSameFile(knownBytes, as: copy.bytes) ? .unchanged : .changed)
        } catch DownloadError.notFound {
            await removeCopies(ofGone: identity, name: source)
            return SourceRefresh(result: .gone)
        } catch let error as any ServiceError where !Task.isCancelled {
            return SourceRefresh(result: .failed, failure: error)
        }
    }

    private func fetchedCopy(of identity: SourceIdentity, receipt: String) async throws -> SourceCopy {
        let end = pipeline.timekeeper.now + pipeline.configuration.requestTimeout
        return try await withDeadline(end, by: pipeline.timekeeper) { [pipeline] in
            try await pipeline.downloader.refresh(identity, receipt: receipt, deadline: end)
        }
    }

    private func bytes(of record: SourceRecord) async -> SharedBytes? {
        if let bytes = pipeline.caches.bytes(of: record) { return bytes }
        return await pipeline.caches.lookUpSource(for: record.identity)?.bytes
    }

    /// Whether both files are equal: an origin may send the same file under another entity tag.
    private func isSameFile(_ old: SharedBytes?, as new: SharedBytes?) async -> Bool {
        guard let old, let new, old.count == new.count else { return false }
        let areSame = try? await pipeline.resources.lanes.small.run { _ in
            old.withBytes { old in new.withBytes { new in old.hasSameBytes(as: new) } }
        }
        return areSame == true
    }

    private func removeCopies(ofGone identity: SourceIdentity, name: ExactText) async {
        pipeline.downloader.forget(identity)
        // The transfer has already removed the copies, except copies that other targets share.
        let removed = await pipeline.caches.purgeLocal(.sources([identity]))
        if removed.entries > 0 {
            pipeline.resources.events.record(
                .purge(url: identity.name, entries: removed.entries, bytes: removed.bytes, cause: .gone))
        }
        _ = await pipeline.caches.purgeShared(.sources([identity], name: name))
    }
}

extension RawSpan {
    /// Whether another span of the same length contains the same bytes.
    fileprivate func hasSameBytes(as other: RawSpan) -> Bool {
        unsafe withUnsafeBytes { mine in unsafe other.withUnsafeBytes { unsafe mine.elementsEqual($0) } }
    }
}
