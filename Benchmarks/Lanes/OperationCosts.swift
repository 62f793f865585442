import Coordination
import Imaging
import Memory
import Recipes
import TestSupport

/// CPU milliseconds of renders with one operation each, beside the same render without; the source is decoded already.
struct OperationCosts {
    private static let operations: [(name: String, change: @Sendable (inout ImageOperations) -> Void)] = [
        ("none", { _ in }),
        ("crop", { $0.crop = .fractions(x: 1_000, y: 1_000, width: 8_000, height: 8_000) }),
        ("rotate=90", { $0.rotation = 90 }), ("flip=h", { $0.flip = .horizontal }),
        ("rotate=10", { $0.rotation = 10 }),
        ("brightness", { $0[.brightness] = 120 }), ("contrast", { $0[.contrast] = 120 }),
        ("saturate", { $0[.saturation] = 150 }), ("hue", { $0[.hue] = 90 }),
        ("grayscale", { $0[.grayscale] = 100 }), ("sepia", { $0[.sepia] = 80 }),
        ("invert", { $0[.inversion] = 100 }),
        ("blur=2", { $0[.blur] = 200 }), ("blur=20", { $0[.blur] = 2_000 }), ("sharpen=0.8", { $0[.sharpen] = 80 }),
        ("pixelate=8", { $0[.pixelate] = 8 }),
        ("pad=10", { $0.pad = .init(top: 10, right: 10, bottom: 10, left: 10) }),
        ("radius=16", { $0.radius = .pixels(16) }), ("mask=circle", { $0.mask = .circle }),
    ]

    /// The CPU time of the process in milliseconds.
    let clock: () -> Double
    /// The operation that is measured beside none; nil for all.
    var only: String?

    /// Prints a table; all operations take turns in each round.
    ///
    /// A turned image gets the width as its height, so that all results but those of `pad` and `rotate=10` have as many
    /// pixels.
    func measure(
        _ source: SharedBytes, name: String, width: Int, format: ImageFormat, quality: Int, rounds: Int,
        light: ResamplingLight
    ) throws {
        let header = try ImageHeader.inspect(source)
        let limits = ImagingLimits()
        var options = RenderingOptions()
        (options.width, options.quality) = (width, quality)
        let operations = Self.operations.filter { $0.name == "none" || only == nil || $0.name == only }
        let plans = try operations.map { operation in
            var options = options
            operation.change(&options.operations)
            if options.operations.rotation == 90 { (options.width, options.height) = (nil, width) }
            return try RenderPlan(options: options, format: format, source: header, limits: limits, light: light)
        }
        let token = WorkToken()
        let images = try plans.map { plan in
            try ImageDecoder.decode(source, header: header, plan: plan.decode, limits: limits, token: token)
        }
        var sums = plans.map { _ in 0.0 }
        for round in 0...rounds {
            for (index, plan) in plans.enumerated() {
                let start = clock()
                // Several renders, because the clock of the process is coarse.
                for _ in 0..<Self.repetitions { _ = try ImageRenderer.render(images[index], plan: plan, token: token) }
                if round > 0 { sums[index] += clock() - start }
            }
        }
        print("\n\(name) → \(width) \(format.rawValue)\n\n| operation | render ms | ratio |\n|---|---|---|")
        for (operation, sum) in zip(operations, sums) {
            let time = sum / Double(rounds * Self.repetitions)
            print("| \(operation.name) | \(text(time)) | \(text(sum / sums[0])) |")
        }
    }

    private static let repetitions = 5
}
