import Coordination
import Imaging
import Recipes
import Telemetry
import TestSupport
import Testing

@testable import ImageSandbox

@Suite(.serialized, .timeLimit(.minutes(5)))
struct UnderestimatedDecodeTests {
    @Test func `an underestimated decode ends, is not started as small again, and is not damaged`() async throws {
        let fixture = try SandboxFixture { $0.minimumSmallDecodeTime = .seconds(-60) }
        for _ in 0..<2 {
            await #expect(throws: UnderestimatedDecode.self) { try await fixture.decodeSlowly(isSmall: true) }
            #expect(fixture.ends(.processorTimeExceeded) == 1)
        }
        #expect(fixture.metric("alula_quarantined_total") == 0)
        #expect(try await fixture.decodeSlowly().size == SandboxFixture.slowSize)
        // The duration of a quarantine.
        fixture.time.advance(by: .seconds(600))
        await #expect(throws: UnderestimatedDecode.self) { try await fixture.decodeSlowly(isSmall: true) }
        #expect(fixture.ends(.processorTimeExceeded) == 2)
    }
}
