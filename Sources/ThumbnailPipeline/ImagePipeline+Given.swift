import Coordination
import Crypto
import Downloading
package import HTTPTypes
import Imaging
package import Memory
import Telemetry

extension ImagePipeline {
    /// An image that a client sent.
    ///
    /// - Throws: ``ImagingError`` for a file that is no image, or whose header cannot be read.
    package func opened(upload bytes: SharedBytes) async throws -> GivenSource {
        try admission.admit(to: .small)
        let now = timekeeper.secondsSince1970
        // The whole file is hashed.
        let given = try await resources.lanes.small.run(timeLimit: configuration.decodeTimeout) { _ in
            try GivenSource(upload: bytes, at: now)
        }
        caches.keepGiven(given.record)
        return given
    }

    /// An image of a file that is used once: all that is made from it is kept only until ``close(_:)``.
    ///
    /// - Throws: ``ImagingError`` for a file that is no image, or whose header cannot be read.
    package func opened(file bytes: SharedBytes) throws -> GivenSource {
        let given = try GivenSource(passing: bytes, name: passingName, at: timekeeper.secondsSince1970)
        caches.keepGiven(given.record)
        return given
    }

    /// A name that is known to one caller alone.
    private var passingName: String { Hexadecimal.encode((0..<16).map { _ in UInt8.random(in: .min ... .max) }) }

    /// The source of a request, fetched once for all that is made from it.
    ///
    /// If nothing of it may be stored, it gets a name that is known to this caller alone, and all that is made from it
    /// is kept only until ``close(_:)``.
    ///
    /// - Throws: A ``ServiceError`` or `CancellationError`.
    package func opened(
        _ recurring: RecurringRequest, directives: RequestCacheControl, receipt: String
    ) async throws -> GivenSource {
        let sources = PerSource(try recurring.sources.get().image)
        let request = ThumbnailRequest(source: recurring.request.source)
        let call = Call(request: request, sources: sources, directives: directives, receipt: receipt)
        if !directives.noCache, !directives.onlyIfCached, !directives.noStore,
            let failure = broken.failure(of: sources.image, known: nil, plan: { _ in throw PipelineError.sourceNeeded })
        {
            throw failure
        }
        // If the source is at hand, so may be all that is wanted of it.
        if directives.noStore || caches.knownRecord(for: sources.image) == nil { try admission.admit(to: .small) }
        guard let fetch = try await fetcher.fetch(for: call, needsBytes: PerSource(true)),
            let bytes = fetch.bytes.image
        else { throw PipelineError.sourceNeeded }
        return try given(bytes, of: fetch, directives: directives)
    }

    /// A source that was fetched for this caller, under its own name if it may be kept.
    func given(_ bytes: SharedBytes, of fetch: Fetch, directives: RequestCacheControl) throws -> GivenSource {
        let record = fetch.records.image
        if !directives.noStore, caches.isCurrent(record) {
            return GivenSource(record, bytes: bytes, isAdmitted: !fetch.isFromCache.image)
        }
        return try opened(file: bytes)
    }

    /// A result that is made from an image in hand.
    ///
    /// - Parameters:
    ///   - given: The image; the request's own source does not count.
    ///   - request: The request that the caller makes.
    ///   - receipt: Name under which an operator can cancel this caller's wait for additional sources.
    /// - Throws: A ``ServiceError`` or `CancellationError`.
    package func thumbnail(
        of given: GivenSource, for request: ThumbnailRequest, receipt: String
    ) async throws -> Thumbnail {
        let sources = PerSource(
            given.record.identity,
            additional: try request.additional.map { named in
                try AdditionalSourceError.attributing(to: named.role) { try downloader.identity(of: named.source) }
            })
        return try await thumbnail(
            for: Call(request: request, sources: sources, directives: .none, receipt: receipt, given: given))
    }

    /// Facts about an image in hand.
    package func facts(of given: GivenSource, asked: FactsRequest, receipt: String) async throws -> SourceFacts {
        try await facts(of: DescribedSource(given), asked: asked) { [self] request in
            try await thumbnail(of: given, for: request, receipt: receipt)
        }
    }

    /// Ends the use of an image in hand.
    package func close(_ given: GivenSource) {
        if given.isPassing { caches.removeAll(from: given.record.identity, cause: .sent) }
    }
}
