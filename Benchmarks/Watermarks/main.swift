// Measures what a watermark costs: CPU milliseconds of a render with and without it, in turns within one run. The
// source and the watermark are decoded already, and the watermark's scaled form is kept from round to round.
//
// Usage: watermarks [--format jpeg] [--rounds 200] [--scale 0.25] [--tile] [--resample linear|gamma] [--fresh] WIDTH
// WATERMARK FILE…
import Coordination
import Imaging
import Measuring
import Memory
import Recipes
import TestSupport

private struct Options {
    var format = ImageFormat.jpeg
    var rounds = 200
    var watermark = WatermarkOptions()
    /// Whether the scaled form is made anew in each round.
    var isFresh = false
    var light = ResamplingLight.linear
    var width = 300
    var files: [String] = []

    init(_ arguments: ArraySlice<String>) {
        var rest = arguments
        watermark.scale = 2_500
        while let argument = rest.popFirst() {
            switch argument {
            case "--format": format = rest.popFirst().flatMap(ImageFormat.init(rawValue:)) ?? format
            case "--rounds": rounds = rest.popFirst().flatMap { Int($0) } ?? rounds
            case "--scale": watermark.scale = rest.popFirst().flatMap { Double($0) }.map { Int($0 * 10_000) }
            case "--resample": light = rest.popFirst().flatMap(ResamplingLight.init(rawValue:)) ?? light
            case "--tile": watermark.isTiled = true
            case "--fresh": isFresh = true
            default: files.append(argument)
            }
        }
        if !files.isEmpty { width = Int(files.removeFirst()) ?? width }
    }
}

private func text(_ value: Double) -> String {
    let thousandths = Int((value * 1_000).rounded())
    return "\(thousandths / 1_000)." + String(thousandths % 1_000 + 1_000).dropFirst()
}

private func decoded(_ bytes: SharedBytes, _ header: ImageHeader, _ plan: DecodePlan) throws -> DecodedImage {
    try ImageDecoder.decode(bytes, header: header, plan: plan, limits: ImagingLimits(), token: WorkToken())
}

private func measure(_ name: String, _ options: Options) throws {
    let (source, mark) = (read(name), read(options.files[0]))
    let (header, markHeader) = (try ImageHeader.inspect(source), try ImageHeader.inspect(mark))
    var wishes = RenderingOptions()
    wishes.width = options.width
    let plain = try RenderPlan(
        options: wishes, format: options.format, source: header, limits: ImagingLimits(), light: options.light)
    wishes.watermark = options.watermark
    let marked = try RenderPlan(
        options: wishes, format: options.format, source: header, limits: ImagingLimits(), light: options.light,
        additions: [markHeader])
    let image = try decoded(source, header, plain.decode)
    let addition = try decoded(mark, markHeader, marked.additions[0])
    let kept = Locked<[AdditionForm: DecodedImage]>([:])
    let additionCache: AdditionPixelCache = { _, form, make in
        if !options.isFresh, let image = kept.withLock({ $0[form] }) { return image }
        let made = try make()
        kept.withLock { $0[form] = made }
        return made
    }
    var (without, with) = (0.0, 0.0)
    // The first rounds warm up.
    for round in -10..<options.rounds {
        let start = processMilliseconds()
        _ = try ImageRenderer.render(image, plan: plain, token: WorkToken())
        let middle = processMilliseconds()
        _ = try ImageRenderer.render(
            image, additions: [addition], additionCache: additionCache, plan: marked, token: WorkToken())
        let end = processMilliseconds()
        guard round >= 0 else { continue }
        without += (middle - start) / Double(options.rounds)
        with += (end - middle) / Double(options.rounds)
    }
    let file = name.split(separator: "/").last.map(String.init) ?? name
    print("| \(file) | \(plain.outputSize) | \(text(without)) | \(text(with)) | \(text(with / without)) |")
}

private let options = Options(CommandLine.arguments.dropFirst())
try ImageLibrary.start()
print("| source | result | without | with | ratio |\n|---|---|---|---|---|")
for file in options.files.dropFirst() { try measure(file, options) }
