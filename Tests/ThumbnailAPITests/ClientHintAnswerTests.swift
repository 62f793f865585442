import Dialects
import HTTPTypes
import Prefetching
import Recipes
import TestSupport
import Testing
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

/// Responses that depend on client hints: their fields, and the keys of repeated requests.
struct ClientHintAnswerTests {
    private static let url = "/thumbnail?url=https%3A%2F%2Fexample.com%2Fa.png"

    private func listener(
        _ thumbnails: StubThumbnails = StubThumbnails(), saveDataQuality: Int? = nil
    ) -> PublicListenerFixture {
        PublicListenerFixture.takingUploads(thumbnails) {
            $0.accessLog = .off
            $0.saveDataQuality = saveDataQuality
            $0.vocabulary.sizes.sizes = [320, 640]
        }
    }

    @Test(
        arguments: [
            ("w=auto&format=png", [.secCHWidth: "5"], "Sec-CH-Width"),
            ("w=auto&format=png", [.width: "5", .accept: "image/webp"], "Sec-CH-Width, Width"),
            ("w=320&dpr=auto&format=png", [.saveData: "on"], "Sec-CH-DPR, DPR"),
            ("w=320&format=jpeg", [.saveData: "on"], "Save-Data"), ("w=320&format=jpeg", [:], "Save-Data"),
            ("w=320&format=jpeg&q=50", [.saveData: "on"], nil), ("w=320&format=png", [.secCHWidth: "5"], nil),
        ] as [(String, HTTPFields, String?)])
    func `Vary and Accept-CH name exactly the hints read`(query: String, fields: HTTPFields, expected: String?) async {
        let listener = listener(saveDataQuality: 40)
        let answer = await listener.respond("\(Self.url)&\(query)", fields: fields)
        #expect(answer.status == .ok)
        for name in [HTTPField.Name.vary, .acceptCH, .criticalCH] { #expect(answer[name] == expected, "\(name)") }
    }

    @Test func `a negotiated response varies by Accept as well, and requests only hints`() async {
        let answer = await listener().respond(Self.url + "&w=auto", fields: [.secCHWidth: "5"])
        #expect(answer[.vary] == "Accept, Sec-CH-Width" && answer[.acceptCH] == "Sec-CH-Width")
    }

    @Test func `without settings no hint is read`() async {
        let listener = PublicListenerFixture()
        let answer = await listener.respond(
            Self.url + "&w=300&format=jpeg", fields: [.saveData: "on", .secCHWidth: "5"])
        #expect(answer[.vary] == nil && answer[.acceptCH] == nil)
        let rejected = await listener.respond(Self.url + "&w=auto")
        #expect(rejected.status == .badRequest && rejected.code == "bad_parameter")
    }

    @Test func `a repeated target's response depends only on the hints that it reads`() throws {
        let slot = ResponseSlot()
        let thumbnails = StubThumbnails(cached: .sample(freshness: Freshness(lifetime: 60, age: 7), slot: slot))
        let listener = listener(thumbnails, saveDataQuality: 40)
        func width(_ fields: HTTPFields, _ query: String = "w=auto") throws -> Int? {
            let request = HTTPRequest(target: "\(Self.url)&\(query)&format=jpeg", headerFields: fields)
            guard case .recurring(let response, let answer) = listener.responder.respond(to: request) else {
                return nil
            }
            #expect(answer.response()?.response[.vary] == response.response[.vary])
            return thumbnails.requests.last?.nativeOptions?.width
        }
        for _ in 0..<2 {
            #expect(try width([.secCHWidth: "5"]) == 320)
            #expect(try width([.secCHWidth: "500"]) == 640)
            #expect(try width([.width: "6"]) == 320)
            #expect(try width([:]) == 640)
            #expect(try width([.secCHWidth: "500", .saveData: "on"]) == 640)
            #expect(thumbnails.requests.last?.defaultQualityLimit == 40)
            #expect(try width([.secCHWidth: "5", .saveData: "off"]) == 320)
            #expect(thumbnails.requests.last?.defaultQualityLimit == nil)
        }
    }

    @Test func `two targets with one result keep their own fields`() throws {
        let thumbnails = StubThumbnails(
            cached: .sample(freshness: Freshness(lifetime: 60, age: 7), slot: ResponseSlot()))
        let listener = listener(thumbnails)
        func vary(_ query: String) throws -> String? {
            let request = HTTPRequest(target: "\(Self.url)&format=png&\(query)", headerFields: [.width: "5"])
            guard case .recurring(let response, _) = listener.responder.respond(to: request) else { return "none" }
            return response.response[.vary]
        }
        for _ in 0..<3 {
            #expect(try vary("w=320") == nil)
            #expect(try vary("w=auto") == "Sec-CH-Width, Width")
        }
    }

    @Test func `a rejection has the list`() async {
        let answer = await listener().respond(Self.url + "&w=300")
        #expect(answer.status == .badRequest && answer.code == "size_not_allowed")
        #expect(answer.member("parameter") == "w" && answer.text.contains(#""allowed":["320","640"]"#))
        let facts = await listener().respond("/info?url=https%3A%2F%2Fexample.com%2Fa.png")
        #expect(facts.code != "size_not_allowed")
    }

    @Test func `bodies of public requests are restricted, signed ones are not`() async {
        let body = Array(#"{"url":"https://example.com/a.png","renditions":["w=300","w=320"]}"#.utf8)
        let list = await listener().submit(SubmissionFixture.request("/thumbnails", SubmissionFixture.json), body)
        let parts = await list.received()
        #expect(parts.contains("size_not_allowed") && parts.contains("picture"))
        let one = await listener().submit(SubmissionFixture.request("/thumbnail?w=300"), SubmissionFixture.image)
        #expect(one.code == "size_not_allowed")
        let automatic = SubmissionFixture.request("/thumbnail?w=auto", [.contentType: "image/jpeg", .width: "5"])
        let made = await listener().submit(automatic, SubmissionFixture.image)
        #expect(made.status == .ok && made[.vary] == "Accept, Sec-CH-Width, Width")
        var configuration = APIConfiguration()
        configuration.vocabulary.sizes.sizes = [320]
        configuration.signingKeys = [[UInt8](repeating: 7, count: 32)]
        #expect(throws: Never.self) { try configuration.rendition("w=300", of: "x:y", fields: [:]) }
        configuration.signingKeys = []
        #expect(throws: APIError.sizeNotAllowed("w", allowed: [320])) {
            try configuration.rendition("w=300", of: "x:y", fields: [:])
        }
    }

    @Test func `operators' jobs are unrestricted, and explanations follow the policy`() throws {
        var configuration = APIConfiguration()
        configuration.vocabulary.sizes.sizes = [320, 640]
        let reader = PrefetchReader(configuration.nativeDialect)
        #expect(reader.work(of: PrefetchItem(Self.url + "&w=300"))?.request.nativeOptions?.width == 300)
        func explain(_ query: String) -> TargetExplanation {
            TargetExplainer(configuration, pipeline: PipelineConfiguration()).explanation(of: "\(Self.url)&\(query)")
        }
        #expect(explain("w=320").verdict == .works)
        #expect(explain("w=300").cause?.hasPrefix("size_not_allowed, w: ") ?? false)
        #expect(explain("w=auto").response == ["chosen by Sec-CH-Width, Width"])
        configuration.vocabulary.sizes.rule = .up
        #expect(explain("w=300").parameters.map { "\($0.name)=\($0.value)" } == ["w=320"])
    }
}
