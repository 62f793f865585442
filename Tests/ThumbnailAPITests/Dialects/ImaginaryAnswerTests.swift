import Dialects
import HTTPTypes
import Recipes
import Telemetry
import TestSupport
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

/// Requests of imaginary's dialect, most of them with an image as the body.
@Suite struct ImaginaryAnswerTests {
    private static let image = SubmissionFixture.image

    private func listener(
        at path: String = "/", _ thumbnails: StubThumbnails = StubThumbnails(), uploads: Bool = true,
        _ change: (inout ImaginaryConfiguration) -> Void = { _ in },
        configure: (inout APIConfiguration) -> Void = { _ in }
    ) throws -> PublicListenerFixture {
        var configuration = ImaginaryConfiguration()
        configuration.prefix = PathPrefix(path)
        change(&configuration)
        let dialect = try #require(ImaginaryDialect(configuration))
        return PublicListenerFixture(thumbnails) {
            $0.takesUploads = uploads
            $0.otherDialects = [dialect]
            configure(&$0)
        }
    }

    private func post(
        _ listener: PublicListenerFixture, _ target: String, _ fields: HTTPFields = [:], _ body: [UInt8] = image
    ) async -> HTTPResponse {
        await listener.respond(target, method: .post, fields: fields, body: body)
    }

    @Test func `an image at a URL and one in the body are returned with their size`() async throws {
        let listener = try listener()
        let fetched = await listener.respond("/resize?width=20&url=http://h/a.jpg")
        #expect(fetched.status == .ok && fetched[.imageWidth] == "30" && fetched[.imageHeight] == "20")
        let sent = await post(listener, "/resize?width=20&url=http://h/a.jpg")
        #expect(sent.status == .ok && sent[.imageWidth] == "30" && sent[.imageHeight] == "20")
        #expect(sent[.cacheControl] == "private, no-store")
        #expect(listener.thumbnails.opened == ["\(Self.image.count) bytes"] && listener.thumbnails.closings == 1)
        #expect(listener.thumbnails.requests.map(\.source.string) == ["http://h/a.jpg", NativeDialect.uploadedSource])
    }

    @Test func `the log names the key, and none after a wrong one`() async throws {
        let listener = try listener { $0.key = Array("sesame".utf8) }
        #expect(await listener.respond("/resize?width=20&key=sesame&url=http://h/a.jpg").status == .ok)
        #expect(await listener.respond("/resize?width=20&key=wrong&url=http://h/a.jpg").status == .unauthorized)
        #expect(listener.log.lines.map { $0["key"] } == ["1", nil])
    }

    @Test(arguments: ["text/plain", "image/png", "application/x-www-form-urlencoded", "", "x"])
    func `the media type of a body is ignored`(type: String) async throws {
        #expect(await post(try listener(), "/flip", [.contentType: type]).status == .ok)
    }

    @Test func `a form has the image in its field file`() async throws {
        let listener = try listener()
        let form: HTTPFields = [.contentType: "multipart/form-data; boundary=b"]
        func body(_ names: String...) -> [UInt8] {
            names.flatMap { name in
                Array("--b\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"a\"\r\n\r\n".utf8)
                    + Self.image + Array("\r\n".utf8)
            } + Array("--b--\r\n".utf8)
        }
        #expect(await post(listener, "/flip", form, body("file")).status == .ok)
        #expect(await post(listener, "/flip", form, body("x", "file")).status == .ok)
        #expect(await post(listener, "/flip", form, body("x")).code == "bad_body")
        #expect(await post(listener, "/flip", form, body("file", "file")).code == "bad_body")
        #expect(await post(listener, "/flip", [.contentType: "multipart/form-data"]).code == "bad_body")
    }

    @Test func `a faulty request has the service's status`() async throws {
        let listener = try listener()
        func status(_ target: String) async -> Int { await post(listener, target).status.code }
        for (target, code) in [("/resize", 400), ("/sharpen", 404), ("/flip?width=x", 400)] {
            let given = await status(target)
            #expect(given == code, "\(target)")
        }
        #expect(await listener.respond("/flip", method: .init(rawValue: "DELETE")).status == .methodNotAllowed)
        #expect(await post(listener, "/flip", [:], [1, 2, 3]).status == .notAcceptable)
        #expect(await post(listener, "/flip", [:], []).status == .badRequest)
        #expect(await listener.respond("/flip?file=/etc/passwd").code == "unsupported_option")
        #expect(await post(try self.listener(uploads: false), "/flip").code == "uploads_off")
        let stub = StubThumbnails(make: { _ in throw ImagingError.cropOutside(PixelSize(width: 1, height: 1)) })
        let failing = try self.listener(at: "/p", stub)
        let failure = await failing.respond("/p/flip?url=http://h/a")
        #expect(failure.status == .badRequest && failure.code == "crop_outside")
        #expect(failure.text.contains("\"status\":400"))
    }

    @Test func `a key closes all routes, health too, and other dialects`() async throws {
        let listener = try listener(at: "/im") { $0.key = Array("sesame".utf8) }
        #expect(await listener.respond("/im/flip?url=http://h/a").status == .unauthorized)
        #expect(await post(listener, "/im/flip?key=Sesame").code == "bad_key")
        #expect(await listener.respond("/im/health").status == .unauthorized)
        #expect(await listener.respond("/thumbnail?url=http://h/a").code == "bad_signature")
        #expect(listener.thumbnails.requests.isEmpty && listener.thumbnails.opened.isEmpty)
        #expect(await post(listener, "/im/flip?key=sesame").status == .ok)
        #expect(await listener.respond("/im/flip?url=http://h/a", fields: [.apiKey: "sesame"]).status == .ok)
        #expect(await listener.respond("/im/health?key=sesame").status == .ok)
        // A response for one key is not returned for another.
        #expect(await listener.respond("/im/flip?url=http://h/a", fields: [.apiKey: "x"]).status == .unauthorized)
    }

    @Test func `a signature closes all routes but health, and keys of others close this one`() async throws {
        let listener = try listener(at: "/im") { $0.signatureKey = [UInt8](repeating: 7, count: 32) }
        #expect(await post(listener, "/im/flip").code == "bad_signature")
        #expect(await listener.respond("/im/flip?url=http://h/a").code == "bad_signature")
        #expect(await listener.respond("/im/health").status == .ok)
        #expect(await listener.respond("/im", method: .post).status == .ok)
        let closed = try self.listener {
            $0.key = nil
        } configure: {
            $0.signingKeys = [[UInt8](0..<32)]
        }
        #expect(await post(closed, "/flip").code == "bad_signature")
        #expect(closed.thumbnails.opened.isEmpty)
    }

    @Test func `facts are returned as JSON, without the response's size`() async throws {
        let header = ImageHeader(
            format: .png, storedSize: PixelSize(width: 9, height: 7), bands: 4, hasAlpha: true, profileByteCount: 5)
        let listener = try listener(StubThumbnails(make: { _ in .sample(sourceHeader: header) }))
        let wanted = """
            {"width":9,"height":7,"type":"png","space":"srgb","hasAlpha":true,"hasProfile":true,"channels":4,\
            "orientation":0}
            """
        for answer in [await listener.respond("/info?url=http://h/a"), await post(listener, "/info")] {
            #expect(answer.text == wanted && answer[.contentType] == "application/json")
            #expect(answer[.imageWidth] == nil && answer[.contentDisposition] == nil)
        }
    }

    @Test func `a placeholder is returned with the failure's status`() async throws {
        let listener = try listener { $0.placeholder = ImaginaryPlaceholder() }
        for answer in [await listener.respond("/resize?url=x"), await post(listener, "/flip", [:], [1, 2, 3])] {
            #expect(answer[.contentType] == "image/png" && answer[.cacheControl] == "no-store")
            #expect([400, 406].contains(answer.status.code))
        }
        #expect(
            listener.thumbnails.placeholders == [Color](repeating: Color(red: 204, green: 204, blue: 204), count: 2))
        // There is no such route.
        #expect(await listener.respond("/sharpen").code == "no_such_route")
    }

    @Test func `an operator's lifetime applies unless the source is private`() async throws {
        for (storability, text) in [
            (Freshness.Storability.shared, "public, s-maxage=60, max-age=60, no-transform"), (.private, "private"),
        ] {
            let stub = StubThumbnails(make: { _ in .sample(freshness: Freshness(storability: storability)) })
            let listener = try listener(stub) { $0.maximumAge = 60 }
            #expect(await listener.respond("/flip?url=http://h/a")[.cacheControl] == text)
        }
    }
}
