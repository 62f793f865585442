import Coordination
import Dialects
import HTTPTypes
import JSON
import Memory
import Recipes
import TestSupport
import Testing
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

/// Responses with several images: status and JSON form.
@Suite(.timeLimit(.minutes(1)))
struct RenditionAnswerTests {
    private func answer(
        to renditions: String, accept: String = "*/*", _ thumbnails: StubThumbnails = StubThumbnails(),
        budget: MemoryBudget = MemoryBudget()
    ) async -> HTTPResponse {
        let body = Array(#"{"url":"https://h/a","renditions":[\#(renditions)]}"#.utf8)
        let fields: HTTPFields = [.contentType: "application/json", .accept: accept]
        return await PublicListenerFixture(thumbnails, budget: budget).submit(
            SubmissionFixture.request("/thumbnails", fields), body)
    }

    @Test(
        arguments: [
            (#""w=x","h=x""#, 400), (#""w=7""#, 502), (#""w=x","w=7""#, 422), (#""w=x","w=9""#, 200),
            (#""w=x",{"include":""}"#, 200), (#""w=7","w=7&h=2","w=7&h=3","w=7&h=4","w=7&h=5","w=9""#, 200),
        ], ["multipart/mixed", "application/x-tar", "application/json"])
    func `a response without images has the status of its parts, or 422 if they differ`(
        requested: (String, Int), form: String
    ) async {
        let (renditions, status) = requested
        let response = await answer(
            to: renditions, accept: form,
            StubThumbnails(make: { request in
                if request.nativeOptions?.width == 7 { throw StubError() }
                return .sample(.jpeg)
            }))
        #expect(response.status.code == status && response[.contentType]?.hasPrefix(form) == true)
        let text = await response.received()
        #expect(
            !text.hasPrefix("broken")
                && text.contains("problem") == (requested.0.contains("=x") || requested.0.contains("=7")))
    }

    @Test func `JSON has the parts in the order of the list, with their bytes`() async throws {
        let gate = Gate()
        let response = await answer(
            to: #"{"name":"first","query":"w=9"},"w=8",{"name":"facts","include":""},"w=x""#,
            accept: "application/json",
            StubThumbnails(make: { request in
                // The first result is ready last.
                if request.nativeOptions?.width == 9 { await gate.pass() } else { gate.open() }
                return .sample(request.nativeOptions?.width == 9 ? .webp : .jpeg)
            }))
        #expect(response.status == .ok && response[.contentType] == "application/json")
        #expect(response[.cacheControl] == "no-store" && response[.vary] == "Accept")
        let text = await response.received()
        #expect(
            text.hasPrefix(
                #"{"renditions":[{"name":"first","type":"image/webp","bytes":7,"width":30,"height":20,"etag":"\"abc\"","data":"data:image/webp;base64,cGljdHVyZQ=="}"#
                    + #",{"name":"1","type":"image/jpeg","bytes":7,"width":30,"height":20,"etag":"\"abc\"","data":"data:image/jpeg;base64,cGljdHVyZQ=="}"#
                    + #",{"name":"facts","facts":{"url":"https://h/a","format":"jpeg","#))
        #expect(text.contains(#"},{"name":"3","problem":{"type":"about:blank","#) && text.hasSuffix("}}]}\n"))
        #expect(try JSONReader.value(in: Array(text.utf8)).members != nil)
    }

    @Test func `bytes of any number are written whole`() async throws {
        for count in [0, 1, 2, 3, 49_151, 49_152, 49_153, 200_000] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            var json = RenditionJSON()
            try json.add(.image(.sample(bytes: bytes)), at: 0, named: "a")
            var written: [UInt8] = []
            await json.write { written += $0.array }
            let text = String(decoding: written, as: UTF8.self)
            #expect(written.count <= json.count && written.count >= json.count - 1)
            let data = try #require(text.firstRange(of: ";base64,")?.upperBound)
            let encoded = text[data...].prefix { $0 != "\"" }
            #expect(Base64Check.decode(String(encoded)) == bytes)
        }
    }

    @Test func `JSON over sixteen mebibytes is rejected`() async throws {
        var json = RenditionJSON()
        let part = RenditionArchive.Part.image(.sample(bytes: Array(repeating: 1, count: 6 << 20)))
        try json.add(part, at: 0, named: "a")
        #expect(throws: APIError.responseTooLarge) { try json.add(part, at: 1, named: "b") }
        #expect(APIError.responseTooLarge.status.code == 413 && APIError.responseTooLarge.code == "too_large")
    }

    @Test func `JSON is written piecewise, and takes no extra memory`() async throws {
        let living = Locked(0)
        let budget = MemoryBudget(limit: 10_000, allocated: { living.withLock { $0 } })
        let thumbnails = StubThumbnails(make: { _ in
            living.withLock { $0 = 9_990 }
            return .sample(.jpeg)
        })
        let response = await answer(to: #""w=9","w=8""#, accept: "application/json", thumbnails, budget: budget)
        #expect(response.status == .ok && budget.statistics.reserved == 0 && thumbnails.closings == 1)
        guard case .streamed = response.body else {
            Issue.record("the answer is a copy")
            return
        }
        #expect(await response.received().hasSuffix("\"}]}\n"))
        var json = RenditionJSON()
        try json.add(.image(.sample(bytes: Array(repeating: 1, count: 1 << 20))), at: 0, named: "a")
        var (longest, whole) = (0, 0)
        await json.write { (longest, whole) = (max(longest, $0.count), whole + $0.count) }
        #expect(longest <= 64 << 10 && whole > 1 << 20)
    }
}

/// Base64 of RFC 4648 section 4, implemented only for these tests.
private enum Base64Check {
    static func decode(_ text: String) -> [UInt8] {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        let values = text.utf8.compactMap { digits.firstIndex(of: $0) }
        return stride(from: 0, to: values.count, by: 4).flatMap { start -> [UInt8] in
            let group = values[start..<min(start + 4, values.count)]
            let bits = group.reduce(0) { $0 << 6 | $1 } << (6 * (4 - group.count))
            return [UInt8(bits >> 16 & 255), UInt8(bits >> 8 & 255), UInt8(bits & 255)].prefix(group.count - 1).map {
                $0
            }
        }
    }
}
