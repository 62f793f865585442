import Coordination
import Dialects
import Downloading
import HTTPTypes
import Memory
import Recipes
import Telemetry
import Text
import ThumbnailPipeline
import ThumbnailTypes

/// Responds with one image of a file, or several of a file or a source; used on all event threads.
struct SubmissionResponder: Sendable {
    let configuration: APIConfiguration
    let thumbnails: any ThumbnailServing
    let resultWriter: ResultWriter
    let bodies: BodyMemory
    let failures: FailureWriter
    let fields: ResponseFields
    let events: EventLog
    let costs: CostAccounting
    let timekeeper: any Timekeeper

    func body(of request: HTTPRequest, in context: RequestContext) throws -> ArrivingBody {
        if failures.lifecycle.isDraining { throw APIError.draining }
        let submission = try Submission(request, at: context.route, by: configuration, now: timekeeper.secondsSince1970)
        try costs.admit()
        if let rejection = costs.account?.workRejection() { throw rejection }
        let maximumImage = configuration.maximumUploadBytes
        let maximum = bodies.maximumPerBody
        let report =
            submission.body.bringsImage
            ? BodyReport(id: context.id, total: context.bodyLength, to: events, timekeeper: timekeeper) : nil
        return try ArrivingBody(length: context.bodyLength, in: bodies.lease(for: context.client), report: report) {
            length throws(APIError) in
            try submission.body.check(length: length, maximumImage: maximumImage, maximum: maximum)
        } respond: { request, lease in
            .deferred { await outcome(of: submission, request: request, lease: lease, in: context) }
        }
    }

    private func outcome(
        of submission: Submission, request: HTTPRequest, lease: BodyMemory.Lease, in context: RequestContext
    ) async -> Outcome {
        do {
            try submission.checkBody(of: request)
            guard case .one(let thumbnailRequest) = submission.work else {
                return try await respondWithRenditions(of: submission.body, request: request, lease: lease, in: context)
            }
            defer { lease.release() }
            return try await respondWithImage(for: thumbnailRequest, of: submission.body, in: request, in: context)
        } catch {
            lease.release()
            var outcome = failures.outcome(of: error, in: context)
            if let route = context.route.images, !Task.isCancelled {
                outcome.fallbackImage = route.dialect.fallbackImage(for: RequestedTarget(request))
            }
            return outcome
        }
    }
}

extension SubmissionResponder {
    func deadline(of context: RequestContext) -> Duration { context.startedAt + configuration.requestTimeout }

    private func respondWithImage(
        for thumbnailRequest: Request, of body: SubmittedBody, in request: HTTPRequest, in context: RequestContext
    ) async throws -> Outcome {
        let image = try body.image(in: request.body ?? SharedBytes([UInt8]()), atMost: configuration.maximumUploadBytes)
        let client = ClientNetwork(of: context.client)
        let bill = costs.newBill
        let thumbnail = try await withDeadline(deadline(of: context), by: timekeeper) { () async throws -> Thumbnail in
            let source = try await thumbnails.open(upload: image, of: client, bill: bill)
            defer { thumbnails.close(source) }
            return try await thumbnails.thumbnail(
                for: Job(
                    thumbnails.resolved(thumbnailRequest, of: source), of: client, receipt: context.receipt, bill: bill)
            )
        }
        try Task.checkCancellation()
        let written = thumbnailRequest.form.writer?.response(about: thumbnail)
        let responseFields = fields.upload(thumbnail, to: thumbnailRequest, written: written, receipt: context.receipt)
        let content = written?.text.map(HTTPResponse.Body.text) ?? .shared(thumbnail.image.bytes)
        return Outcome(
            response: HTTPResponse(status: .ok, headerFields: responseFields, body: content),
            timings: thumbnail.timings,
            label: RequestLabel(
                of: request, at: context.route, tenant: configuration.tenant, source: NativeDialect.uploadedSource),
            image: thumbnail.image, cache: CacheUse(thumbnail.cacheStatus), bill: bill)
    }

    /// Releases `lease` once the body is no longer needed.
    private func respondWithRenditions(
        of body: SubmittedBody, request: HTTPRequest, lease: BodyMemory.Lease, in context: RequestContext
    ) async throws -> Outcome {
        let (list, image) = try listAndImage(body, of: request)
        let client = ClientNetwork(of: context.client)
        let bill = costs.newBill
        let forwarded = image == nil ? request.headerFields : [:]
        let resolved = try thumbnails.resolved(Request(source: ExactText(list.source ?? ""))).forwarding(forwarded)
        let source = try await withDeadline(deadline(of: context), by: timekeeper) { () async throws -> OpenedSource in
            if let image { return try await thumbnails.open(upload: image, of: client, bill: bill) }
            return try await thumbnails.open(for: Job(resolved, of: client, receipt: context.receipt, bill: bill))
        }
        let parts = RenditionParts(
            list: list, source: source, context: context, bill: bill, fields: forwarded, responder: self)
        let form = RenditionForm(accept: request.headerFields[.accept])
        let (content, mediaType, failure) =
            form == .json
            ? try await jsonContent(parts, lease: lease)
            : try await archiveContent(parts, isTar: form == .tar, lease: lease)
        try Task.checkCancellation()
        let responseFields = fields.renditions(
            of: resolved, isUpload: image != nil, mediaType: mediaType, failure: failure, receipt: context.receipt)
        return Outcome(
            response: HTTPResponse(status: failure?.status ?? .ok, headerFields: responseFields, body: content),
            label: RequestLabel(
                of: request, at: context.route, tenant: configuration.tenant,
                source: list.source ?? NativeDialect.uploadedSource),
            error: failure, bill: bill)
    }

    private func listAndImage(
        _ body: SubmittedBody, of request: HTTPRequest
    ) throws(APIError) -> (RenditionList, SharedBytes?) {
        let received = request.body ?? SharedBytes([UInt8]())
        var json = [UInt8]()
        var image = SharedBytes?.none
        if case .form(let boundary, _) = body {
            (json, image) = try SubmittedBody.listAndImage(
                in: received, boundary: boundary, atMost: configuration.maximumUploadBytes)
        } else {
            json = received.array
        }
        let list = try RenditionList(
            json, hasFile: image != nil, fields: request.headerFields, configuration: configuration,
            resultWriter: resultWriter)
        return (list, image)
    }

    private typealias Content = (body: HTTPResponse.Body, mediaType: String, failure: (any ServiceError)?)

    /// Returns the JSON text, which begins when all parts are ready.
    private func jsonContent(_ parts: RenditionParts, lease: BodyMemory.Lease) async throws -> Content {
        defer {
            thumbnails.close(parts.source)
            lease.release()
        }
        var json = RenditionJSON()
        var outcome = SubmissionOutcome()
        try await parts.make { index, part in
            outcome.record(part)
            try json.add(part, at: index, named: parts.list.renditions[index].name.string)
        }
        let stream = StreamedBody()
        let writer = Task { [made = Locked<RenditionJSON>(json)] in
            do {
                var json = made.exchange(RenditionJSON())
                try await json.write { (piece) async throws(StreamedBody.Closed) in try await stream.write(piece) }
                stream.finish()
            } catch {
                stream.finish(isComplete: false)
            }
        }
        stream.onClose { writer.cancel() }
        return (.streamed(stream), "application/json", outcome.failure)
    }

    /// Sends parts as they complete; failures are held back until the first image, which determines the status.
    private func archiveContent(
        _ parts: RenditionParts, isTar: Bool, lease: BodyMemory.Lease
    ) async throws -> Content {
        let archive = RenditionArchive(isTar: isTar)
        let stream = StreamedBody()
        let begun = Promise<(any ServiceError)?>()
        let writer = Task {
            defer {
                thumbnails.close(parts.source)
                lease.release()
            }
            await write(parts, as: archive, to: stream, begun: begun)
        }
        stream.onClose { writer.cancel() }
        let failure = await begun.value(orIfCanceled: APIError.clientGone)
        if Task.isCancelled { stream.close() }
        return (.streamed(stream), archive.mediaType, failure)
    }

    /// Writes each part when it is ready and the client has received the previous one.
    private func write(
        _ parts: RenditionParts, as archive: RenditionArchive, to stream: StreamedBody,
        begun: Promise<(any ServiceError)?>
    ) async {
        var outcome = SubmissionOutcome()
        var withheld: [(index: Int, part: RenditionArchive.Part)] = []
        func send() async throws {
            for (index, part) in withheld {
                let name = parts.list.renditions[index].name.string
                for piece in archive.pieces(of: part, named: name, at: timekeeper.secondsSince1970) {
                    try await stream.write(piece)
                }
            }
            withheld = []
        }
        do {
            try await parts.make { index, part in
                outcome.record(part)
                withheld.append((index, part))
                guard outcome.hasResult else { return }
                begun.fulfill(nil)
                try await send()
            }
            begun.fulfill(outcome.failure)
            try await send()
            try await stream.write(archive.end)
            stream.finish()
        } catch {
            // The client has disconnected.
            begun.fulfill(APIError.clientGone)
            stream.finish(isComplete: false)
        }
    }
}
