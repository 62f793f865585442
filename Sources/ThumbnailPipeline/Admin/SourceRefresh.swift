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
            SourceRemoval(from: pipeline).removeTenantCopies(of: identity, includesServiceRules: hasTenants)
            notifier?.notify(CompletedPurge(sources: [identity.name]))
        }
        return refresh
    }

    private func refresh(
        _ identity: SourceIdentity, name source: ExactText, receipt: String
    ) async throws -> SourceRefresh {
        let known = await pipeline.caches.lookUpRecord(for: identity)
        // An origin may send the same file under another entity tag.
        var old = known.flatMap { pipeline.caches.bytes(of: $0) }
        if known != nil, old == nil { old = await pipeline.caches.lookUpSource(for: identity)?.bytes }
        do {
            let end = pipeline.timekeeper.now + pipeline.configuration.requestTimeout
            let copy = try await withDeadline(end, by: pipeline.timekeeper) { [pipeline] in
                try await pipeline.downloader.refresh(identity, receipt: receipt, deadline: end)
            }
            guard let known else { return SourceRefresh(result: .changed) }
            if copy.exchange?.status == 304 || copy.head.validator == known.validator {
                return SourceRefresh(result: .unchanged)
            }
            guard let old, let new = copy.bytes, old.count == new.count else { return SourceRefresh(result: .changed) }
            let areSame = try? await pipeline.resources.lanes.small.run { _ in
                old.withBytes { old in new.withBytes { new in old.hasSameBytes(as: new) } }
            }
            return SourceRefresh(result: areSame == true ? .unchanged : .changed)
        } catch DownloadError.notFound {
            pipeline.downloader.forget(identity)
            // The transfer has already removed the copies, except copies that other targets share.
            let removed = await pipeline.caches.removeLocal(.sources([identity]))
            if removed.entries > 0 {
                pipeline.resources.events.record(
                    .purge(url: identity.name, entries: removed.entries, bytes: removed.bytes, cause: .gone))
            }
            _ = await pipeline.caches.purge(.sources([identity], name: source))
            return SourceRefresh(result: .gone)
        } catch let error as any ServiceError where !Task.isCancelled {
            return SourceRefresh(result: .failed, failure: error)
        }
    }
}

extension RawSpan {
    /// Whether another span of the same length contains the same bytes.
    fileprivate func hasSameBytes(as other: RawSpan) -> Bool {
        unsafe withUnsafeBytes { mine in unsafe other.withUnsafeBytes { unsafe mine.elementsEqual($0) } }
    }
}
