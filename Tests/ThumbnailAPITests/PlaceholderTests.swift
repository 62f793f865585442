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
            StubError(status: .unsupportedMediaType, code: "not_an_image"),
            StubError(status: .unprocessableContent, code: "cannot_decode"),
            StubError(status: .badGateway, code: "origin_unreachable"),
        ] as [any ServiceError])
    func `a placeholder replaces a failing source`(error: any ServiceError) async {
        let edge = Edge(StubThumbnails(make: { _ in throw error }))
        let response = await edge.respond(Self.target)
        #expect(response.status == .ok)
        #expect(edge.thumbnails.placeholders == [Color(red: 192, green: 192, blue: 192)])
        let expected: [HTTPField.Name: String] = [
            .contentType: "image/png", .cacheControl: "no-store", .vary: "Accept", .alulaError: error.code,
            .contentDisposition: "inline; filename=\"photo.png\"", .cacheStatus: "alula-result;fwd=uri-miss",
            .xContentTypeOptions: "nosniff", .serverTiming: "total;dur=0.000",
        ]
        for (name, value) in expected { #expect(response[name] == value, "\(name)") }
        #expect(response[.eTag]?.utf8.count == 66)
        #expect(edge.log.lines.last?["error"] == .string(error.code))
    }

    @Test(arguments: [
        StubError(status: .badRequest, code: "bad_url"),
        StubError(status: .forbidden, code: "source_not_allowed"),
        StubError(status: .conflict, code: "cancelled"),
        StubError(status: .contentTooLarge, code: "source_too_large"),
        StubError(status: .serviceUnavailable, code: "overloaded"),
        StubError(status: .gatewayTimeout, code: "deadline_exceeded"),
        StubError(status: .gatewayTimeout, code: "not_cached"),
        StubError(status: .internalServerError, code: "internal"),
    ])
    func `a placeholder hides no invalid request, rejection or fault of the service`(error: StubError) async {
        let edge = Edge(StubThumbnails(make: { _ in throw error }))
        let response = await edge.respond(Self.target)
        #expect(response.status == error.status)
        #expect(response.code == error.code)
        #expect(edge.thumbnails.placeholders.isEmpty)
    }

    @Test func `if the placeholder fails, the source's failure is returned`() async {
        let tooLarge = StubError(status: .unprocessableContent, code: "too_many_pixels")
        let edge = Edge(
            StubThumbnails(placeholder: { _ in throw tooLarge }, make: { _ in throw StubError() }))
        let response = await edge.respond(Self.target)
        #expect(response.status == .badGateway)
        #expect(response.code == "origin_error")
    }

    @Test func `an available source is returned without a trace of its placeholder`() async {
        let response = await Edge().respond(Self.target)
        #expect(response[.alulaError] == nil)
        #expect(response[.cacheControl] == "public")
    }
}
