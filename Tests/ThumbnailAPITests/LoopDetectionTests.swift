import HTTPTypes
import Testing

@testable import ThumbnailAPI

struct LoopDetectionTests {
    private func request(_ values: [String]) -> HTTPRequest {
        HTTPRequest(target: "/", headerFields: HTTPFields(values.map { HTTPField(name: .cdnLoop, value: $0) }))
    }

    @Test(arguments: [
        ["alula"], ["ALULA"], ["other, alula"], ["other; v=1, alula; v=\"2, x\""], ["other", "alula"], [" alula ,"],
    ])
    func `a request that carries the service's name is recognized`(values: [String]) {
        #expect(LoopDetection(name: "Alula").isLoop(request(values)))
    }

    @Test(arguments: [[], [""], ["alula2"], ["al ula"], ["other; alula"], ["\"alula\""], ["other; x=\", alula\""]])
    func `another one is not`(values: [String]) {
        #expect(!LoopDetection(name: "alula").isLoop(request(values)))
        #expect(!LoopDetection(name: nil).isLoop(request(values + ["alula"])))
    }
}
