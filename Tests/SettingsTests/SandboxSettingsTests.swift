import ImageSandbox
import Recipes
import Testing
import ThumbnailPipeline

@testable import Settings

struct SandboxSettingsTests {
    @Test(arguments: [(1_000_000, 50_000_000), (50_000_000, 1_000_000), (1, 1), (Int.max, Int.max)])
    func `a worker may use as much memory as the costliest image needs`(source: Int, output: Int) {
        var settings = Settings()
        settings.pipeline.rules.limits.maximumSourcePixels = source
        settings.pipeline.rules.limits.maximumOutputPixels = output
        settings.pipeline.rules.limits.maximumOutputPixelsSlow = output
        let limits = settings.sandboxConfiguration.launch.limits
        let pixels = min(max(source, output), 1 << 36)
        #expect(limits.pixels >= 4 * pixels && limits.pixels <= 1 << 48)
        #expect(limits.memory <= 1 << 48)
        let size = PixelSize(width: min(output, 1 << 36), height: 1)
        #expect(limits.memory >= RenderPlan(resizedSize: size, format: .avif, quality: 100).cost)
        let costliest = ImageHeader(
            format: .jxl, storedSize: PixelSize(width: min(source, 1 << 36), height: 1), bands: 4, bitDepth: 16,
            hasAlpha: true)
        #expect(limits.memory >= 2 * costliest.cost(of: DecodePlan()))
    }

    @Test func `each image in progress has a worker, expensive ones too`() {
        var settings = Settings()
        settings.renderWorkers = 1
        #expect(settings.sandboxConfiguration.encoderCount == 2)
        #expect(settings.sandboxConfiguration.decoderCount == 3)
        settings.renderWorkers = 8
        #expect(settings.sandboxConfiguration.encoderCount == 12)
        #expect(settings.sandboxConfiguration.decoderCount == 13)
    }
}
