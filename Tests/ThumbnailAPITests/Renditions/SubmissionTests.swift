import Coordination
import HTTPTypes
import Memory
import Recipes
import Telemetry
import TestSupport
import Testing
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

/// Requests with images or lists of renditions.
@Suite struct SubmissionTests {
    private static let image = SubmissionFixture.image
    private static let json = SubmissionFixture.json
    private static let jpeg = SubmissionFixture.jpeg
    private static let form: HTTPFields = [.contentType: "multipart/form-data; boundary=b"]

    private func listener(
        _ thumbnails: StubThumbnails = StubThumbnails(), _ configure: (inout APIConfiguration) -> Void = { _ in }
    ) -> PublicListenerFixture {
        PublicListenerFixture(thumbnails) {
            $0.takesUploads = true
            configure(&$0)
        }
    }

    private func post(
        _ listener: PublicListenerFixture, _ target: String, _ fields: HTTPFields, _ body: [UInt8] = image
    ) async -> HTTPResponse {
        await listener.respond(target, method: .post, fields: fields, body: body)
    }

    private static func formBody(_ parts: [(String, [UInt8])]) -> [UInt8] {
        parts.flatMap { header, content in
            Array("--b\r\nContent-Disposition: form-data; \(header)\r\n\r\n".utf8) + content + Array("\r\n".utf8)
        } + Array("--b--\r\n".utf8)
    }

    @Test(arguments: [jpeg, [.contentType: "application/octet-stream"], [:]] as [HTTPFields])
    func `an image in the body is rendered like one at a URL, and not cached`(fields: HTTPFields) async {
        let listener = listener()
        let response = await post(listener, "/thumbnail?w=20&format=webp", fields)
        #expect(response.status == .ok && response.text == "picture" && response[.eTag] == "\"abc\"")
        #expect(response[.cacheControl] == "private, no-store")
        #expect(listener.thumbnails.opened == ["\(Self.image.count) bytes"] && listener.thumbnails.closings == 1)
        #expect(listener.thumbnails.requests.map(\.nativeOptions?.width) == [20])
    }

    @Test func `a form has one file`() async {
        let listener = listener()
        let one = Self.formBody([("name=\"x\"; filename=\"a.jpg\"", Self.image)])
        #expect(await post(listener, "/thumbnail?w=20", Self.form, one).status == .ok)
        let two = Self.formBody([
            ("name=\"x\"; filename=\"a\"", Self.image), ("name=\"y\"; filename=\"b\"", Self.image),
        ])
        #expect(await post(listener, "/thumbnail?w=20", Self.form, two).code == "bad_body")
        #expect(await post(listener, "/thumbnail?w=20", Self.form, Self.formBody([("name=x", [1])])).code == "bad_body")
        #expect(await post(listener, "/thumbnail?w=20", Self.form, Array("--b".utf8)).code == "bad_body")
    }

    @Test func `faults are reported before anything is rendered`() async {
        let listener = listener { $0.maximumUploadBytes = 10_000 }
        #expect(await post(listener, "/thumbnail?w=x", Self.jpeg).code == "bad_parameter")
        #expect(await post(listener, "/thumbnail?url=x", Self.jpeg).member("parameter") == "url")
        #expect(await post(listener, "/thumbnail?sig=x", Self.jpeg).member("parameter") == "sig")
        #expect(await post(listener, "/thumbnail?placeholder=red", Self.jpeg).member("parameter") == "placeholder")
        #expect(await post(listener, "/thumbnail?expires=0", Self.jpeg).code == "expired")
        #expect(await post(listener, "/thumbnail", [.contentType: "text/html"]).code == "not_an_image")
        #expect(await post(listener, "/thumbnail", Self.jpeg, [1, 2, 3]).code == "not_an_image")
        #expect(await post(listener, "/thumbnail", Self.jpeg, []).code == "bad_body")
        #expect(await post(listener, "/thumbnails", [.contentType: "text/html"]).code == "not_json")
        #expect(await post(listener, "/thumbnails?w=3", Self.json, Array("{}".utf8)).code == "unknown_parameter")
        #expect(
            await post(listener, "/thumbnail", Self.jpeg, [UInt8](repeating: 0, count: 10_001)).code
                == "source_too_large")
        #expect(listener.thumbnails.requests.isEmpty)
    }

    @Test func `without uploads only lists are accepted`() async {
        let listener = PublicListenerFixture()
        #expect(await post(listener, "/thumbnail?w=20", Self.jpeg).code == "uploads_off")
        #expect(await post(listener, "/thumbnails", Self.form, Self.formBody([])).code == "uploads_off")
        let list = Array(#"{"url":"https://h/a","renditions":["w=3"]}"#.utf8)
        #expect(await post(listener, "/thumbnails", Self.json, list).status == .ok)
    }

    @Test(.timeLimit(.minutes(1))) func `the first part is sent before the last is rendered`() async {
        let gate = Gate()
        let listener = listener(
            StubThumbnails(make: { request in
                if request.nativeOptions?.width == 9 { await gate.pass() }
                return .sample(.jpeg)
            }))
        let list = #"{"url":"https://h/a","renditions":["w=9",{"name":"small","query":"w=7"}]}"#
        let response = await post(listener, "/thumbnails", Self.json, Array(list.utf8))
        guard case .streamed(let body) = response.body else {
            Issue.record("not streamed")
            return
        }
        var text = ""
        while !text.contains("picture\r\n") {
            switch body.take() {
            case .bytes(let piece): text += String(decoding: piece.array, as: UTF8.self)
            case .pending: await withCheckedContinuation { next in body.whenReady { next.resume() } }
            case .end, .broken:
                Issue.record("the body ended")
                return
            }
        }
        #expect(text.contains("<small>") && !text.contains("<0>"))
        await gate.arrivals(1)
        gate.open()
        #expect(await response.received().contains("<0>"))
    }

    @Test func `a list has one source, each part with its name or its problem`() async {
        let listener = listener(
            StubThumbnails(make: { request in
                if request.nativeOptions?.width == 7 { throw StubError() }
                return .sample(request.nativeOptions?.width == 9 ? .webp : .jpeg)
            }))
        let list =
            #"{"url":"https://h/a","renditions":["w=9",{"name":"bad","query":"w=x"},{"name":"f","query":"w=7"}]}"#
        let response = await post(listener, "/thumbnails", Self.json, Array(list.utf8))
        #expect(response.status == .ok && response[.cacheControl] == "no-store")
        #expect(response[.contentType]?.hasPrefix("multipart/mixed; boundary=") == true)
        let text = await response.received()
        #expect(
            text.contains(
                "Content-Type: image/webp\r\nETag: \"abc\"\r\nContent-ID: <0>\r\nContent-Length: 7\r\n\r\npicture"))
        #expect(text.contains("Content-ID: <bad>") && text.contains(#""code":"bad_parameter","parameter":"w""#))
        #expect(text.contains("Content-ID: <f>") && text.contains(#""code":"origin_error""#))
        #expect(text.hasSuffix("--\r\n") && listener.thumbnails.opened == ["https://h/a"])
    }

    @Test func `a form with a list and a file renders all of the file, in either order`() async {
        let list = ("name=\"request\"", Array(#"{"renditions":["w=9"]}"#.utf8))
        let file = ("name=\"file\"; filename=\"a\"", Self.image)
        for parts in [[list, file], [file, list]] {
            let listener = listener()
            let response = await post(listener, "/thumbnails", Self.form, Self.formBody(parts))
            #expect(response[.cacheControl] == "private, no-store")
            #expect(await response.received().contains("Content-ID: <0>"))
            #expect(listener.thumbnails.opened == ["\(Self.image.count) bytes"])
        }
        #expect(await post(listener(), "/thumbnails", Self.form, Self.formBody([file, file])).code == "bad_body")
    }

    @Test func `facts are a part like any other`() async {
        let list =
            #"{"url":"https://h/a","renditions":[{"name":"facts","include":"color"},{"include":"x"},{"include":""}]}"#
        let text = await post(listener(), "/thumbnails", Self.json, Array(list.utf8)).received()
        #expect(text.contains("Content-Type: application/json\r\nContent-ID: <facts>"))
        #expect(text.contains(#"{"url":"https://h/a","format":"jpeg""#) && text.contains(#""parameter":"include""#))
        let two = #"{"url":"https://h/a","renditions":[{"query":"","include":""}]}"#
        #expect(
            await post(listener(), "/thumbnails", Self.json, Array(two.utf8)).member("parameter")
                == "/renditions/0/include"
        )
    }

    @Test(
        arguments: [
            (#"{"url":"https://h/a"}"#, "/renditions"), (#"{"renditions":["w=1"]}"#, "/url"),
            (#"{"url":"https://h/a","renditions":[]}"#, "/renditions"),
            (#"{"url":"https://h/a","renditions":[1]}"#, "/renditions/0"),
            (#"{"url":"https://h/a","renditions":["w=1"],"x":1}"#, "/x"),
            (#"{"url":"https://h/a","renditions":[{"name":"a"}]}"#, "/renditions/0/query"),
            (#"{"url":"https://h/a","renditions":[{"name":".a","query":""}]}"#, "/renditions/0/name"),
            (#"{"url":"https://h/a","renditions":["w=1",{"name":"0","query":""}]}"#, "/renditions/1/name"),
            (#"{"url":"https://h/a","renditions":["w=1","w=2","w=3"]}"#, "/renditions/2"),
        ])
    func `faults of a list have their position`(list: String, place: String) async {
        let response = await post(listener { $0.maximumRenditions = 2 }, "/thumbnails", Self.json, Array(list.utf8))
        #expect(response.code == "bad_body" && response.member("parameter") == place)
    }

    @Test func `a source that fails before its header is one problem`() async {
        let listener = listener(StubThumbnails(make: { _ in throw StubError() }))
        let list = #"{"url":"https://h/a","renditions":["w=9"]}"#
        #expect(await post(listener, "/thumbnails", Self.json, Array(list.utf8)).code == "origin_error")
    }

    @Test func `allowed methods are listed`() async {
        #expect(await PublicListenerFixture().respond("/thumbnails")[.allow] == "POST")
        #expect(await PublicListenerFixture().respond("/thumbnail", method: .delete)[.allow] == "GET, HEAD, POST")
        #expect(await PublicListenerFixture().respond("/info", method: .post)[.allow] == "GET, HEAD")
    }
}
