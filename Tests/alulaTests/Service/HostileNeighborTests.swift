import TestSupport
import Testing

@testable import Composition
@testable import Settings

/// The effect of one client's URLs on other clients of the same origin.
@Suite(.timeLimit(.minutes(1)))
struct HostileNeighborTests {
    @Test(arguments: [FakeResponse.status(500), .closing, FakeResponse.image([1, 2, 3]).cut(afterBytes: 1)])
    func `failing URLs do not close their origin to others`(failure: FakeResponse) async throws {
        try await withService { running in
            let image = FakeResponse.image(ImageFixture.png.array, type: "image/png")
            running.origin.serveOthers { $0.target.hasPrefix("/good") ? image : failure }
            for round in 0..<30 {
                let good = try await running.send(
                    "GET", "/thumbnail?url=\(running.origin.url("/good\(round).png"))&w=32")
                #expect(good.status == 200)
                for number in 0..<4 {
                    let bad = try await running.send(
                        "GET", "/thumbnail?url=\(running.origin.url("/bad\(round)-\(number).png"))&w=32")
                    #expect(bad.status == 502)
                }
            }
            // Without successful requests in between, sources that worked before keep the origin from being suspended.
            for number in 0..<40 {
                let bad = try await running.send(
                    "GET", "/thumbnail?url=\(running.origin.url("/worse\(number).png"))&w=32")
                #expect(bad.status == 502)
            }
            let good = try await running.send("GET", "/thumbnail?url=\(running.origin.url("/good.png"))&w=32")
            #expect(good.status == 200)
        }
    }
}
