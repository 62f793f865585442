import Downloading
import HTTPTypes
import Recipes
import Testing
import ThumbnailTypes

@testable import Coordination
@testable import ThumbnailPipeline

struct ServiceErrorTests {
    /// The expected response to an error.
    struct Row: Sendable, CustomTestStringConvertible {
        let error: any ServiceError
        let status: Int
        let code: String
        let category: ErrorCategory
        var parameter: String?
        var upstreamStatus: Int?

        init(
            _ error: any ServiceError, _ status: Int, _ code: String, _ category: ErrorCategory,
            parameter: String? = nil, upstreamStatus: Int? = nil
        ) {
            self.error = error
            self.status = status
            self.code = code
            self.category = category
            self.parameter = parameter
            self.upstreamStatus = upstreamStatus
        }

        var testDescription: String { "\(error) → \(status) \(code)" }
    }

    /// Details that may appear only in the log: an address, a library's message, a path.
    private static let secret = "10.1.2.3:8443 vips_jpegload /etc/secret"
    private static let size = PixelSize(width: 30_000, height: 20_000)

    static let rows = downloading + imaging + others

    static let downloading: [Row] = [
        Row(DownloadError.sourceNotAllowed(secret), 403, "source_not_allowed", .policy),
        Row(DownloadError.noAddress(secret), 403, "source_not_allowed", .policy),
        Row(DownloadError.unreachable(secret), 502, "origin_unreachable", .origin),
        Row(DownloadError.protocolError(secret), 502, "origin_protocol_error", .origin),
        Row(DownloadError.unexpectedResponse(secret), 502, "origin_protocol_error", .origin),
        Row(DownloadError.tls(secret), 502, "origin_tls_error", .origin),
        Row(DownloadError.tooManyRedirects, 502, "too_many_redirects", .origin),
        Row(DownloadError.status(500), 502, "origin_error", .origin, upstreamStatus: 500),
        Row(DownloadError.status(403), 502, "origin_error", .origin, upstreamStatus: 403),
        Row(DownloadError.notFound(404), 404, "source_not_found", .origin, upstreamStatus: 404),
        Row(DownloadError.notFound(410), 404, "source_not_found", .origin, upstreamStatus: 410),
        Row(DownloadError.timedOut, 504, "origin_timeout", .timeout),
        Row(DownloadError.tooLarge, 413, "source_too_large", .origin),
        Row(DownloadError.notAnImage(secret), 415, "not_an_image", .image),
        Row(DownloadError.emptyBody, 415, "not_an_image", .image),
        Row(DownloadError.receiptCanceled, 409, "cancelled", .canceled),
        Row(DownloadError.queueFull, 503, "overloaded", .overload),
        Row(DownloadError.originSuspended(seconds: 7), 503, "origin_suspended", .origin),
        Row(DownloadError.shuttingDown, 503, "draining", .overload),
        Row(DownloadError.internal(secret), 500, "internal", .internal),
        Row(SourceURLError.malformed, 400, "bad_url", .request, parameter: "url"),
        Row(SourceURLError.pathNotAllowed, 403, "source_not_allowed", .policy),
        Row(SourceURLError.schemeNotAllowed(secret), 403, "source_not_allowed", .policy),
        Row(SourceURLError.literalNotAllowed(secret), 403, "source_not_allowed", .policy),
    ]

    static let imaging: [Row] = [
        Row(ImagingError.notAnImage, 415, "not_an_image", .image),
        Row(ImagingError.formatNotAccepted(.avif), 415, "not_an_image", .image),
        Row(ImagingError.cannotDecode(detail: secret), 422, "cannot_decode", .image),
        Row(ImagingError.tooManyPixels(size, frames: 1), 422, "too_many_pixels", .image),
        Row(ImagingError.tooManyPixels(size, frames: 9), 422, "too_many_pixels", .image),
        Row(ImagingError.tooMuchWork(size), 422, "too_many_pixels", .request),
        Row(ImagingError.sideTooLong(size, format: .webp), 422, "too_many_pixels", .request),
        Row(ImagingError.noSuchPage(3, pages: 3), 422, "no_such_page", .request, parameter: "page"),
        Row(
            ImagingError.cropOutside(PixelSize(width: 3, height: 2)), 422, "crop_outside", .request, parameter: "crop"),
        Row(ImagingError.encodeFailed(detail: secret), 500, "internal", .internal),
    ]

    static let others: [Row] = [
        Row(PipelineError.placeholderTooLarge, 422, "too_many_pixels", .request),
        Row(PipelineError.missingBytes, 500, "internal", .internal),
        Row(WorkerPool.Full(), 503, "overloaded", .overload),
        Row(WorkerPool.Stopped(), 503, "draining", .overload),
        Row(DeadlineExceeded(), 504, "deadline_exceeded", .timeout),
    ]

    @Test(arguments: rows)
    func `an error has its status, code and message`(row: Row) {
        #expect(row.error.status.code == row.status)
        #expect(row.error.code == row.code)
        #expect(row.error.category == row.category)
        #expect(row.error.parameter == row.parameter)
        #expect(row.error.upstreamStatus == row.upstreamStatus)
    }

    @Test(arguments: rows)
    func `503, and nothing else, has a Retry-After`(row: Row) {
        #expect((row.error.retryAfter != nil) == (row.status == 503))
        #expect(row.error.retryAfter ?? 1 > 0)
    }

    @Test(arguments: rows)
    func `the client's message has no addresses, library terms or paths`(row: Row) {
        let message = row.error.publicMessage
        #expect(message.hasSuffix(".") && message.count > 10)
        for word in Self.secret.split(separator: " ") { #expect(!message.contains(word)) }
    }

    @Test(arguments: rows)
    func `the log has the details that the client must not read`(row: Row) {
        let saysMore =
            "\(row.error)".contains(Self.secret) || row.category == .policy || row.upstreamStatus != nil
        #expect((row.error.logDetail != nil) == saysMore)
        if "\(row.error)".contains(Self.secret) { #expect(row.error.logDetail?.contains(Self.secret) == true) }
    }

    @Test func `operators read the rule that rejects a source, and no other log detail`() {
        for row in Self.rows {
            let isTold = row.error.operatorMessage != row.error.publicMessage
            #expect(isTold == (row.code == "source_not_allowed"), "\(row)")
            if isTold, let rule = row.error.logDetail {
                #expect(row.error.operatorMessage == "The source is not fetched: \(rule).")
            }
        }
    }

    @Test func `all policy rejections have the same response`() {
        let rejections: [any ServiceError] = [
            DownloadError.sourceNotAllowed(Self.secret), DownloadError.noAddress(Self.secret),
            SourceURLError.schemeNotAllowed("ftp"), SourceURLError.literalNotAllowed("127.1"),
            SourceURLError.pathNotAllowed,
        ]
        #expect(Set(rejections.map { "\($0.status) \($0.code) \($0.publicMessage) \($0.parameter ?? "")" }).count == 1)
    }

    @Test func `a page's message names the last page`() {
        #expect(ImagingError.noSuchPage(3, pages: 3).publicMessage.contains("0 to 2"))
    }
}
