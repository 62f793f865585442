import HTTPTypes
import Recipes
import TestSupport
import Testing

@testable import Composition
@testable import Settings

/// URLs of front-end frameworks' image endpoints in the whole service.
@Suite(.timeLimit(.minutes(1)))
struct FrontEndTests {
    private static let places = [
        "--next-path", "/_next/image", "--vercel-path", "/_vercel/image", "--netlify-path", "/.netlify/images",
        "--astro-path", "/_image", "--cloudflare-path", "/cdn-cgi/image",
        "--ipx-path", "/_ipx",
    ]

    private func failure(_ arguments: [String], file: String = "{}") -> [String] {
        do throws(SettingsLoader.Failure) {
            _ = try SettingsLoader.load(arguments: ["--config", "a.json"] + arguments, environment: [:]) { _ in file }
            return []
        } catch {
            return error.lines
        }
    }

    @Test(arguments: [
        "/_next/image?w=32&q=75&url=", "/_vercel/image?w=640&q=75&url=", "/.netlify/images?w=32&url=",
        "/_image?w=32&href=", "/cdn-cgi/image/w=32/", "/_ipx/w_32/",
    ])
    func `an endpoint returns an image of the source, or a problem`(endpoint: String) async throws {
        try await withService(Self.places) { running in
            running.origin.serve(
                "/a.png",
                .image(
                    ImageFixture.file(SampleImage.quarters(PixelSize(width: 64, height: 48)), as: .png),
                    type: "image/png"))
            let answer = try await running.send("GET", endpoint + running.origin.url("/a.png"))
            #expect(answer.status == 200)
            #expect(answer.headerFields[.contentType]?.hasPrefix("image/") == true)
            let path = try await running.send("GET", endpoint + "/a.png")
            #expect(path.status == 400 && path.headerFields[.contentType] == "application/problem+json")
            let other = try await running.send("GET", endpoint + "//a.example/a.png")
            #expect(other.status == 400)
        }
    }

    @Test func `settings are validated`() throws {
        let file = #"{"origins": {"site": {"url": "https://a.example"}}}"#
        #expect(failure(["--base-origin", "site"], file: file) == [])
        #expect(
            failure(["--base-origin", "shop"], file: file).first?.hasPrefix("baseOrigin: there is no origin shop")
                == true)
        #expect(failure(["--next-path", "_next"]).first?.hasSuffix("a path such as /_next/image") == true)
        #expect(failure(["--next-sizes", "0"]).count == 1 && failure(["--next-sizes", ""]).count == 1)
        #expect(failure(["--next-sizes", "16,640", "--next-formats", "avif,webp"]) == [])
        #expect(failure(["--next-path", "/x", "--astro-path", "/x"]).count == 1)
    }
}
