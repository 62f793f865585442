import Coordination
package import ImageSandbox
package import Recipes
import ThumbnailPipeline

package struct SandboxSettings: Sendable {
    var executable = "/proc/self/exe"
    package var isRequired = false
    package var decodesInProcess = false
    /// The formats of the files that a command decodes; nil if they are unknown.
    package var decodedFormats: Set<ImageFormat>?
    var sourceFormats: Set<ImageFormat>?

    package func sourceFormats(inSandbox isConfined: Bool) -> Set<ImageFormat> {
        if let sourceFormats { return sourceFormats }
        return Set(isConfined ? ImageFormat.allCases : ImageFormat.trusted)
    }
}

extension SandboxSettings {
    static let table: [Setting] = [
        Setting(
            "requireSandbox", \.sandbox.isRequired, as: .flag, default: "off",
            help: "start only if decoders can be confined", forCommands: true),
        Setting(
            "decodeInProcess", \.sandbox.decodesInProcess, as: .flag, default: "off",
            help: "decode without a sandbox", forCommands: true),
    ]
}

extension Settings {
    package var sandboxConfiguration: SandboxConfiguration {
        let source = min(pipeline.rules.limits.maximumSourcePixels, 1 << 36)
        let output = min(pipeline.rules.limits.maximumOutputPixels, 1 << 36)
        let encodings = ImageFormat.written.filter(\.isEncodedByWorker).map { format in
            let pixels = min(pipeline.rules.limits.maximumFramePixels(of: format), 1 << 36)
            return RenderPlan(resizedSize: PixelSize(width: pixels, height: 1), format: format, quality: 100).cost
        }
        // The most expensive images to decode have 16 bits per component and alpha.
        let decodings = ImageFormat.allCases.map { format in
            ImageHeader(
                format: format, storedSize: PixelSize(width: source, height: 1), bands: 4, bitDepth: 16,
                hasAlpha: true, isProgressive: true
            ).cost(of: DecodePlan())
        }
        // A worker is used for up to twice its lifetime if no other one is ready.
        let lifetime = max(WorkerLifetime.decoder.processorTime, WorkerLifetime.encoder.processorTime) * 2
        // A decode times out long before it uses this much CPU time, on any number of threads.
        let longest = max(8, availableProcessorCount()) * max(1, Int(pipeline.decodeTimeout.components.seconds))
        let limits = WorkerLimits(
            // A process has more address space than memory in use.
            memory: 2 * max(decodings.max() ?? 0, encodings.max() ?? 0) + 256 << 20,
            pixels: max(source, output) * 4 + 16 << 20, processorSeconds: Int(lifetime.components.seconds) + longest)
        var configuration = SandboxConfiguration(
            launch: WorkerLaunch(executable: sandbox.executable, limits: limits),
            parallelism: renderWorkers + WorkLanes.expensiveThreadCount(beside: renderWorkers))
        if let formats = sandbox.decodedFormats {
            configuration.launch.formats = formats
            configuration.decoderCount = 1
        }
        return configuration
    }
}
