import Downloading
import HTTPTypes
import Recipes
import Telemetry
import TestSupport
import Testing
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

@Suite(.timeLimit(.minutes(1))) struct PlaceholderTests {
    private static let target = "/thumbnail?url=https%3A%2F%2Fexample.com%2Fphoto.jpg&w=300&placeholder=silver"

    @Test(
        arguments: [
            DownloadError.notFound(404), DownloadError.timedOut,
            StubError(status: .unsupportedMediaType, code: .notAnImage),
            StubError(status: .unprocessableContent, code: .cannotDecode),
            StubError(status: .badGateway, code: .originUnreachable),
        ] as [any ServiceError])
    func `a placeholder replaces a failing source`(error: any ServiceError) async {
        let listener = PublicListenerFixture(StubThumbnails(make: { _ in throw error }))
        let response = await listener.respond(Self.target)
        #expect(response.status == .ok)
        #expect(listener.thumbnails.placeholders == [Color(red: 192, green: 192, blue: 192)])
        let expected: [HTTPField.Name: String] = [
            .contentType: "image/png", .cacheControl: "no-store", .vary: "Accept", .alulaError: error.code,
            .contentDisposition: "inline; filename=\"photo.png\"", .cacheStatus: "alula-result;fwd=uri-miss",
            .xContentTypeOptions: "nosniff", .serverTiming: "total;dur=0.000",
        ]
        for (name, value) in expected { #expect(response[name] == value, "\(name)") }
        #expect(response[.eTag]?.utf8.count == 66)
        #expect(listener.log.lines.last?["error"] == .string(error.code))
    }

    @Test(arguments: [
        StubError(status: .badRequest, code: .badURL),
        StubError(status: .forbidden, code: .sourceNotAllowed),
        StubError(status: .conflict, code: .canceled),
        StubError(status: .contentTooLarge, code: .sourceTooLarge),
        StubError(status: .serviceUnavailable, code: .overloaded),
        StubError(status: .gatewayTimeout, code: .deadlineExceeded),
        StubError(status: .gatewayTimeout, code: .notCached),
        StubError(status: .internalServerError, code: .internal),
    ])
    func `a placeholder hides no invalid request, rejection or fault of the service`(error: StubError) async {
        let listener = PublicListenerFixture(StubThumbnails(make: { _ in throw error }))
        let response = await listener.respond(Self.target)
        #expect(response.status == error.status)
        #expect(response.code == error.code.rawValue)
        #expect(listener.thumbnails.placeholders.isEmpty)
    }

    @Test func `if the placeholder fails, the source's failure is returned`() async {
        let tooLarge = StubError(status: .unprocessableContent, code: .tooManyPixels)
        let listener = PublicListenerFixture(
            StubThumbnails(placeholder: { _ in throw tooLarge }, make: { _ in throw StubError() }))
        let response = await listener.respond(Self.target)
        #expect(response.status == .badGateway)
        #expect(response.code == "origin_error")
    }

    @Test func `an available source is returned without a trace of its placeholder`() async {
        let response = await PublicListenerFixture().respond(Self.target)
        #expect(response[.alulaError] == nil)
        #expect(response[.cacheControl] == "public")
    }
}
