import Coordination
import Crypto
import Downloading
package import HTTPTypes
package import Memory
import Recipes
import Telemetry
package import ThumbnailTypes

extension ImagePipeline {
    package func open(
        upload bytes: SharedBytes, of client: ClientNetwork? = nil, bill: RequestBill? = nil
    ) async throws -> OpenedSource {
        try admission.admit(to: .small, for: Job.flow(of: client, bill: bill))
        let now = timekeeper.secondsSince1970
        // Hashing a whole file takes too long for the calling thread.
        let source = try await resources.lanes.small.run(timeLimit: configuration.decodeTimeout) {
            [tenant = rules.tenant] _ in try OpenedSource(upload: bytes, of: tenant, at: now)
        }
        caches.storeInMemory(source.record)
        return source
    }

    /// Opens a file without caching: everything derived from it is dropped by ``close(_:)``.
    package func open(file bytes: SharedBytes) throws -> OpenedSource { try open(uncacheable: bytes) }

    private func open(
        uncacheable bytes: SharedBytes, preview: RAWPreview? = nil, fetched: SourceFreshness? = nil
    ) throws -> OpenedSource {
        // A random name, so that no other request can find the source.
        let name = Hexadecimal.encode((0..<16).map { _ in UInt8.random(in: .min ... .max) })
        let source = try OpenedSource(
            uncacheable: bytes, preview: preview, name: name, at: timekeeper.secondsSince1970, fetched: fetched)
        caches.storeInMemory(source.record)
        return source
    }

    /// Fetches the source once for all its results.
    ///
    /// A source that may not be stored gets a random name, and ``close(_:)`` drops everything derived from it.
    package func open(for job: Job) async throws -> OpenedSource {
        let identity = try job.sources.main
        let directives = job.directives
        let job = job.with(ResolvedRequest(Request(source: job.request.source), sources: .success(PerSource(identity))))
        if !directives.noStore { try throwRememberedFailure(of: identity, directives: directives) }
        // The results of a known source may all be cached.
        if directives.noStore || caches.storedRecord(for: identity) == nil {
            try admission.admit(to: .small, for: job.flow)
        }
        let source = try await fetcher.fetch(for: job, needsBytes: PerSource(true)).main
        guard let opened = try open(source, directives: directives) else { throw PipelineError.missingBytes }
        return opened
    }

    /// Does not throw if the source has a record: a stored copy may still decode.
    func throwRememberedFailure(of identity: SourceIdentity, directives: RequestCacheControl) throws {
        guard !directives.noCache, !directives.onlyIfCached else { return }
        let failure = failedDecodes.failure(of: identity, stored: nil) { _ in nil }
        if let failure { throw failure }
    }

    /// Opens a fetched source; nil if it arrived without bytes, because it is unchanged.
    func open(_ source: AvailableSource, directives: RequestCacheControl) throws -> OpenedSource? {
        guard let bytes = source.file?.bytes else { return nil }
        let record = source.record
        if !directives.noStore, caches.isCurrent(record) {
            return OpenedSource(record, bytes: bytes, preview: source.preview, isAdmitted: !source.isFromCache)
        }
        return try open(uncacheable: bytes, preview: source.preview, fetched: record.head.freshness)
    }

    package func resolved(_ request: Request, of source: OpenedSource) -> ResolvedRequest {
        ResolvedRequest(request, sources: sources(of: request) { source.record.identity }, of: source)
    }

    /// Decodes the levels of several results in one pass, if the format supports it.
    ///
    /// If not, or if that fails, each result decodes its own level.
    package func decodeTogether(_ requests: [Request], of source: OpenedSource) async {
        let plans = requests.compactMap {
            try? RenderPlan(for: $0, of: PerSource(source.header), by: configuration).decode
        }
        guard let plan = DecodePlan(combining: plans, of: source.header) else { return }
        try? await renderer.decodeTogether(plan, of: source)
    }

    package func close(_ source: OpenedSource) {
        if source.isUncacheable { caches.forget(source.record.identity, cause: .uploadServed) }
    }
}
