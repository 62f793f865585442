import HTTPTypes
import Testing

@testable import ThumbnailAPI

struct RequestLoopsTests {
    private func request(_ values: [String]) -> HTTPRequest {
        HTTPRequest(target: "/", headerFields: HTTPFields(values.map { HTTPField(name: .cdnLoop, value: $0) }))
    }

    @Test(arguments: [
        ["alula"], ["ALULA"], ["other, alula"], ["other; v=1, alula; v=\"2, x\""], ["other", "alula"], [" alula ,"],
    ])
    func `a request that carries the service's name is recognized`(values: [String]) {
        #expect(RequestLoops(name: "Alula").include(request(values)))
    }

    @Test(arguments: [[], [""], ["alula2"], ["al ula"], ["other; alula"], ["\"alula\""], ["other; x=\", alula\""]])
    func `another one is not`(values: [String]) {
        #expect(!RequestLoops(name: "alula").include(request(values)))
        #expect(!RequestLoops(name: nil).include(request(values + ["alula"])))
    }
}
