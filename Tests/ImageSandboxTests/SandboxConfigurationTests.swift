import Recipes
import Testing

@testable import ImageSandbox

struct SandboxConfigurationTests {
    @Test func `decoder runs add twice their cost to the CPU time of a decode, and so do patches`() {
        let size = PixelSize(width: 64, height: 64)
        let patched = ImageHeader(format: .jxl, storedSize: size, work: DecoderWork(runs: 3_500))
        let plain = ImageHeader(format: .jxl, storedSize: size)
        let configuration = SandboxConfiguration(launch: .ofTests, parallelism: 1)
        func limit(_ header: ImageHeader) -> Duration {
            configuration.processorTime(
                forCostOf: header.timeCost(of: DecodePlan()), runs: header.runsTime(of: DecodePlan()))
        }
        #expect(configuration.processorTime(forSmallCostOf: .milliseconds(10)) < .seconds(2))
        #expect(limit(plain) == .seconds(1) + plain.timeCost(of: DecodePlan()) * 8)
        #expect(limit(patched) == limit(plain) + .milliseconds(700))
    }
}
