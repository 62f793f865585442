import Coordination
import Downloading
import Memory
import Telemetry
package import Text

/// The result of asking an origin for a source now.
package struct SourceRefresh: Sendable {
    /// The state of the source after the refresh.
    package enum Result: String, Sendable {
        /// The copies hold: the origin said so, or sent the same bytes.
        case unchanged
        /// There is another version, or one of a source that was not known; nothing that was made from an earlier one
        /// is served any more.
        case changed
        /// The origin has no such source; the copies are removed.
        case gone
        /// Nothing was learned; the copies stay.
        case failed
    }

    /// The state of the source after the refresh.
    package let result: Result
    /// Why the refresh failed; nil if it did not.
    package let failure: (any ServiceError)?

    /// A refresh with this result.
    package init(_ result: Result, failure: (any ServiceError)? = nil) {
        self.result = result
        self.failure = failure
    }
}

/// The downloads that an operator cancelled.
package struct CancelledDownloads: Sendable, Equatable {
    /// Downloads that ran or waited for a slot.
    package var downloads: Int
    /// Callers that waited for them.
    package var callers: Int

    /// Counts of cancelled downloads and their callers.
    package init(downloads: Int = 0, callers: Int = 0) {
        self.downloads = downloads
        self.callers = callers
    }
}

extension PipelineControl {
    package func cancelDownloads(of source: ExactText) throws -> CancelledDownloads {
        let (downloads, callers) = downloader.cancelAll(of: try downloader.identity(of: source))
        return CancelledDownloads(downloads: downloads, callers: callers)
    }

    package func sourceName(of source: ExactText) throws -> ExactText {
        ExactText(try downloader.identity(of: source).name)
    }

    package func refresh(source: ExactText, receipt: String) async throws -> SourceRefresh {
        let identity = try downloader.identity(of: source)
        let known = await caches.restoredRecord(for: identity)
        // An origin may send the same file under another entity tag.
        var old = known.flatMap { caches.memory.bytes(of: $0) }
        if known != nil, old == nil { old = await caches.retrieve(identity)?.bytes }
        do {
            let end = timekeeper.now + requestTimeout
            let delivery = try await withDeadline(end, by: timekeeper) { [downloader] in
                try await downloader.refresh(identity, receipt: receipt, deadline: end)
            }
            guard let known else { return SourceRefresh(.changed) }
            if delivery.exchange?.status == 304 || delivery.head.validator == known.validator {
                return SourceRefresh(.unchanged)
            }
            guard let old, let new = delivery.bytes, old.count == new.count else { return SourceRefresh(.changed) }
            let areSame = try? await lanes.small.run { _ in
                old.withBytes { old in new.withBytes { new in old.hasSameBytes(as: new) } }
            }
            return SourceRefresh(areSame == true ? .unchanged : .changed)
        } catch DownloadError.notFound {
            downloader.forget(identity)
            // The transfer has removed the copies already, unless other targets share them.
            let removed = await caches.removedAll(from: identity)
            if removed.entries > 0 {
                resources.events.record(
                    .purge(
                        url: identity.name, entries: removed.entries, bytes: removed.bytes, cause: .gone))
            }
            if let tier = caches.tier { _ = await tier.purge(identity, name: source) }
            return SourceRefresh(.gone)
        } catch let error as any ServiceError where !Task.isCancelled {
            return SourceRefresh(.failed, failure: error)
        }
    }
}

extension RawSpan {
    /// Whether another span of the same length holds the same bytes.
    fileprivate func hasSameBytes(as other: RawSpan) -> Bool {
        unsafe withUnsafeBytes { mine in unsafe other.withUnsafeBytes { unsafe mine.elementsEqual($0) } }
    }
}
