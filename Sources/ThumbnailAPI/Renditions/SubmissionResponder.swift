import Coordination
import HTTPTypes
import Imaging
import Memory
import Text
import ThumbnailPipeline

/// Answers requests to make images that have a body: one image of a file, or many images of a file or a source.
///
/// Used on all event threads.
final class SubmissionResponder: Sendable {
    private let configuration: APIConfiguration
    private let dialect: NativeDialect
    private let thumbnails: any ThumbnailServing
    private let budget: MemoryBudget
    private let lifecycle: ServiceLifecycle
    private let recorder: ExchangeRecorder
    private let timekeeper: any Timekeeper
    private let common: HTTPFields

    /// Renditions of one call that are made at the same time; the call has no more than its share of the threads.
    private static let mostAtOnce = 4

    /// Answers with what `thumbnails` makes; bodies are read into memory of `budget`.
    init(
        _ configuration: APIConfiguration, _ thumbnails: any ThumbnailServing, budget: MemoryBudget,
        lifecycle: ServiceLifecycle, recorder: ExchangeRecorder, timekeeper: any Timekeeper, common: HTTPFields
    ) {
        self.configuration = configuration
        dialect = configuration.nativeDialect
        self.thumbnails = thumbnails
        self.budget = budget
        self.lifecycle = lifecycle
        self.recorder = recorder
        self.timekeeper = timekeeper
        self.common = common
    }

    /// Judges a request by its header alone, and reserves the memory for its body.
    ///
    /// - Throws: A ``ServiceError`` for everything that the header tells.
    func admission(of request: HTTPRequest, bodyLength: Int?, _ exchange: Exchange) throws -> any BodyHold {
        let submission = try Submission(request, of: self)
        let room = try budget.reserveNow(0, for: .arrival)
        let hold = SubmissionHold(
            room,
            check: { [maximum = configuration.maximumUploadBytes] length throws(APIError) in
                try submission.body.check(length: length, maximumImage: maximum)
            }, failure: { [self] in failure($0, exchange) })
        if let bodyLength { try hold.makeRoom(for: bodyLength) }
        return hold
    }

    /// The answer to a request whose body has been read.
    func answer(_ request: HTTPRequest, _ exchange: Exchange) -> HTTPAnswer {
        let submission: Submission
        do {
            submission = try Submission(request, of: self)
            try submission.body.check(
                length: request.body?.count ?? 0, maximumImage: configuration.maximumUploadBytes)
        } catch {
            return .now(failure(error, exchange))
        }
        return .later { [self] in
            do {
                if !configuration.signingKeys.isEmpty {
                    guard BodySignature.verify(request, keys: configuration.signingKeys) else {
                        throw APIError.badSignature
                    }
                }
                switch submission.work {
                case .one(let query): return try await one(query, submission.body, request, exchange)
                case .several: return try await several(submission.body, request, exchange)
                }
            } catch {
                return failure(error, exchange)
            }
        }
    }

    /// The answer to a request that failed.
    func failure(_ error: any Error, _ exchange: Exchange) -> HTTPResponse {
        let error = lifecycle.failure(behind: error)
        return recorder.finish(
            Problem(error, requestID: exchange.requestID, common: common).response, exchange, error: error)
    }
}

extension SubmissionResponder {
    /// What a header asks for.
    private struct Submission {
        /// What is made.
        enum Work {
            case one(ThumbnailQuery)
            case several
        }

        let body: SubmittedBody
        let work: Work

        /// Reads a header.
        ///
        /// - Throws: A ``ServiceError`` for the first thing that is wrong.
        init(_ request: HTTPRequest, of responder: SubmissionResponder) throws {
            if responder.lifecycle.isDraining { throw APIError.draining }
            let isOne = request.target.prefix(before: UInt8(ascii: "?")) == ThumbnailTarget.path
            body =
                try isOne ? SubmittedBody(ofOne: request.headerFields) : SubmittedBody(ofSeveral: request.headerFields)
            let configuration = responder.configuration
            guard configuration.takesUploads || !body.bringsImage else { throw APIError.uploadsOff }
            guard configuration.isOpen(responder.dialect),
                configuration.signingKeys.isEmpty || BodySignature.isStated(in: request.headerFields)
            else {
                throw APIError.badSignature
            }
            let rest = request.target.utf8.firstIndex(of: UInt8(ascii: "?")).map { request.target[$0...].dropFirst() }
            guard isOne else {
                if let name = try RawQuery(target: request.target).decoded().first?.name {
                    throw APIError.unknownParameter(String(name.prefix(RawQuery.longestQuotedName)))
                }
                work = .several
                return
            }
            let query = try responder.dialect.rendition(
                String(rest ?? ""), of: RenditionList.givenSource, accept: request.headerFields[.accept],
                refusing: ["url", "placeholder", "sig"])
            if let expires = query.expires, expires <= responder.timekeeper.secondsSince1970 { throw APIError.expired }
            work = .one(query)
        }
    }

    private func one(
        _ query: ThumbnailQuery, _ body: SubmittedBody, _ request: HTTPRequest, _ exchange: Exchange
    ) async throws -> HTTPResponse {
        let image = try body.image(in: request.body ?? SharedBytes([UInt8]()), atMost: configuration.maximumUploadBytes)
        let deadline = exchange.startedAt + configuration.requestTimeout
        let made = try await withDeadline(deadline, by: timekeeper) { [self] () async throws -> Thumbnail in
            let given = try await thumbnails.opened(upload: image)
            defer { thumbnails.close(given) }
            return try await thumbnails.thumbnail(of: given, for: query.request, receipt: exchange.requestID)
        }
        try Task.checkCancellation()
        var fields = common
        fields.append(.contentType, made.image.format.mediaType)
        fields.append(.eTag, made.eTag)
        if made.isIncomplete { fields.append(.alulaIncomplete, "1") }
        if let quality = made.image.quality { fields.append(.alulaQuality, String(quality)) }
        fields.append(.cacheControl, "private, no-store")
        if query.isNegotiated { fields.append(.vary, "Accept") }
        fields.append(
            .contentDisposition,
            FileName(source: "").contentDisposition(fileExtension: made.image.format.fileExtension))
        fields.append(.cacheStatus, CacheStatusText.text(made.cacheStatus))
        fields.append(.alulaReceipt, exchange.requestID)
        let response = HTTPResponse(status: .ok, headerFields: fields, body: .shared(made.image.bytes))
        return recorder.finish(response, exchange, timings: made.timings, source: RenditionList.givenSource)
    }

    private func several(
        _ body: SubmittedBody, _ request: HTTPRequest, _ exchange: Exchange
    ) async throws -> HTTPResponse {
        let accept = request.headerFields[.accept]
        let received = request.body ?? SharedBytes([UInt8]())
        var (json, image) = ([UInt8](), SharedBytes?.none)
        if case .form(let boundary) = body {
            (json, image) = try SubmittedBody.listAndImage(
                in: received, boundary: boundary, atMost: configuration.maximumUploadBytes)
        } else {
            json = received.array
        }
        let list = try RenditionList(
            json, hasFile: image != nil, most: configuration.maximumRenditions, accept: accept, dialect: dialect)
        let deadline = exchange.startedAt + configuration.requestTimeout
        let given = try await withDeadline(deadline, by: timekeeper) { [self, image] () async throws -> GivenSource in
            if let image { return try await thumbnails.opened(upload: image) }
            let source = ThumbnailRequest(source: ExactText(list.source ?? ""))
            return try await thumbnails.opened(
                thumbnails.resolved(source), directives: .none, receipt: exchange.requestID)
        }
        let archive = RenditionArchive(accept: accept)
        let stream = StreamedBody()
        let writer = Task { [self] in
            defer { thumbnails.close(given) }
            await write(list, of: given, as: archive, to: stream, exchange, until: deadline)
        }
        stream.onClose { writer.cancel() }
        var fields = common
        fields.append(.contentType, archive.mediaType)
        fields.append(.cacheControl, image == nil ? "no-store" : "private, no-store")
        fields.append(.vary, "Accept")
        fields.append(.alulaReceipt, exchange.requestID)
        return recorder.finish(
            HTTPResponse(status: .ok, headerFields: fields, body: .streamed(stream)), exchange,
            source: list.source ?? RenditionList.givenSource)
    }

    /// Makes the renditions, and writes each as soon as it is ready and the client has taken the one before.
    private func write(
        _ list: RenditionList, of given: GivenSource, as archive: RenditionArchive, to stream: StreamedBody,
        _ exchange: Exchange, until deadline: Duration
    ) async {
        do {
            try await withThrowingTaskGroup(of: (Int, RenditionArchive.Part).self) { group in
                var waiting = list.renditions.indices.makeIterator()
                func startNext() {
                    guard let index = waiting.next() else { return }
                    group.addTask { [self] in
                        (
                            index,
                            await part(list.renditions[index], of: given, named: list.source, exchange, until: deadline)
                        )
                    }
                }
                for _ in 0..<Self.mostAtOnce { startNext() }
                while let (index, part) = try await group.next() {
                    startNext()
                    let name = list.renditions[index].name.string
                    for piece in archive.pieces(of: part, named: name, at: timekeeper.secondsSince1970) {
                        try await stream.write(piece)
                    }
                }
            }
            try await stream.write(archive.end)
            stream.finish()
        } catch {
            // The client has left.
            stream.finish(isComplete: false)
        }
    }

    private func part(
        _ rendition: RenditionList.Rendition, of given: GivenSource, named source: String?, _ exchange: Exchange,
        until deadline: Duration
    ) async -> RenditionArchive.Part {
        do {
            let wanted = try rendition.request.get()
            return try await withDeadline(deadline, by: timekeeper) {
                [self] () async throws -> RenditionArchive.Part in
                switch wanted {
                case .image(let request):
                    let made = try await thumbnails.thumbnail(of: given, for: request, receipt: exchange.requestID)
                    return .image(made.image, eTag: made.eTag)
                case .facts(let asked):
                    let facts = try await thumbnails.facts(of: given, asked: asked, receipt: exchange.requestID)
                    return .facts(FactsText.text(facts, of: source, asked: asked))
                }
            }
        } catch {
            return .problem(Problem(lifecycle.failure(behind: error), requestID: exchange.requestID, common: [:]))
        }
    }
}
