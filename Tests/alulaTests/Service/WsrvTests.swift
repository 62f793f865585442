import HTTPTypes
import Imaging
import Memory
import Recipes
import TestSupport
import Testing
import ThumbnailAPI

@testable import Composition
@testable import Settings

/// URLs of weserv/images in the whole service.
@Suite(.timeLimit(.minutes(1)))
struct WsrvTests {
    private static let image = SampleImage.quarters(PixelSize(width: 64, height: 48))

    private static func serve(_ running: RunningService) {
        running.origin.serve(
            "/a.jpg",
            .image(ImageFixture.file(image, as: .jpeg, quality: 95), type: "image/jpeg")
                .with("Cache-Control", "max-age=500"))
    }

    @Test func `an image is resized, rotated and cropped as its URL says`() async throws {
        try await withService(["--wsrv-path", "/"]) { running in
            Self.serve(running)
            let source = running.origin.url("/a.jpg").dropFirst("http://".count)
            let answer = try await running.send("GET", "/?w=24&flip&url=\(source)&mask=circle&maxage=1d&filename=seal")
            #expect(answer.status == 200)
            #expect(answer.headerFields[.contentType] == "image/png")
            #expect(answer.headerFields[.cacheControl] == "public, max-age=86400")
            #expect(answer.headerFields[.contentDisposition] == "inline; filename=\"seal.png\"")
            let image = try ImageReading.decode(SharedBytes(answer.body))
            #expect(image.size == PixelSize(width: 24, height: 18))
            #expect(image.pixel(x: 0, y: 0)[3] == 0)
            // Blue was at the bottom left.
            #expect(image.isClose(x: 8, y: 5, to: [0, 0, 255, 255], tolerance: 40))
            let again = try await running.send(
                "GET", "/?mask=circle&url=\(source)&flip=1&width=24px&maxage=1d&filename=seal")
            #expect(again.headerFields[.cacheStatus] == "alula-result;hit")
            #expect(again.headerFields[.eTag] == answer.headerFields[.eTag])
        }
    }

    @Test func `a border is cropped before the sizes are computed`() async throws {
        try await withService(["--wsrv-path", "/wsrv"]) { running in
            let bordered = SampleImage(PixelSize(width: 80, height: 60), bands: 3) { x, y in
                (20..<60).contains(x) && (10..<50).contains(y) ? [200, 40, 20] : [255, 255, 255]
            }
            running.origin.serve("/b.png", .image(ImageFixture.file(bordered, as: .png), type: "image/png"))
            let source = running.origin.url("/b.png")
            let answer = try await running.send("GET", "/wsrv/?url=\(source)&trim=10&w=20&output=json")
            #expect(answer.headerFields[.contentType] == "application/json")
            #expect(answer.text.hasPrefix("{\"format\":\"png\",\"width\":20,\"height\":20,"), "\(answer.text)")
            let encoded = try await running.send("GET", "/wsrv/?url=\(source)&trim=10&w=20&encoding=base64")
            #expect(encoded.text.hasPrefix("data:image/png;base64,iVBORw0KGgo"))
            #expect(encoded.headerFields[.contentDisposition] == nil)
            #expect(encoded.headerFields[.eTag] != answer.headerFields[.eTag])
        }
    }

    @Test func `a failing source never redirects the client to a stranger's page`() async throws {
        try await withService(["--wsrv-path", "/"]) { running in
            Self.serve(running)
            running.origin.serve("/none", FakeResponse(status: 404))
            let missing = "/?url=\(running.origin.url("/none"))"
            let sent = try await running.send("GET", missing + "&w=40&default=\(running.origin.url("/a.jpg"))")
            let location = try #require(sent.headerFields[.location])
            #expect(sent.status == 302 && location.hasPrefix("?url=http%3A%2F%2F127.0.0.1%3A"), "\(location)")
            let image = try await running.send("GET", "/" + location)
            #expect(image.status == 200 && image.headerFields[.contentType] == "image/jpeg")
            for rejected in ["http://10.0.0.1/a.jpg", "1", "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP"] {
                let kept = try await running.send("GET", missing + "&default=" + rejected)
                #expect(kept.status == 404 && kept.headerFields[.location] == nil, "\(rejected)")
            }
            // The redirect also applies if the source is invalid.
            let impossible = try await running.send("GET", "/?url=x&default=\(running.origin.url("/a.jpg"))")
            #expect(impossible.status == 302)
        }
    }

    @Test func `a failing source redirects the client to hosts in the settings`() async throws {
        try await withService(["--wsrv-path", "/", "--allowed-sources", "https://*.example.com/*"]) { running in
            let sent = try await running.send("GET", "/?url=x&default=https://cdn.example.com/b.png")
            #expect(sent.status == 302 && sent.headerFields[.location] == "https://cdn.example.com/b.png")
            let kept = try await running.send("GET", "/?url=x&default=https://stranger.example/b.png")
            #expect(kept.status == 400 && kept.headerFields[.location] == nil)
        }
    }

    @Test func `the dialect is off until it has a path`() async throws {
        try await withService { running in
            let answer = try await running.send("GET", "/?url=\(running.origin.url("/a.jpg"))")
            #expect(answer.headerFields[.contentType] == "text/html; charset=utf-8")
            #expect(running.origin.requests.isEmpty)
        }
        #expect {
            try SettingsLoader.load(arguments: ["--wsrv-path", "wsrv"], environment: [:]) { _ in "{}" }
        } throws: {
            ($0 as? SettingsLoader.Failure)?.lines == [
                "--wsrv-path: invalid value \"wsrv\"; expected / or a path such as /wsrv"
            ]
        }
    }
}
