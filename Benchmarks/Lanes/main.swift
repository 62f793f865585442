// Measures the two lanes of Imaging beside each other: CPU milliseconds per image of decode and render, in turns within
// one run, so that other load of the machine affects both.
//
// With --operations: CPU milliseconds of renders with each operation beside the same without; with --only NAME, of this
// one.
//
// Usage: lanes [--operations] [--only NAME] [--lane planar|vips] [--format jpeg] [--quality 80] [--rounds 20] [--margin
// 2] [--resample gamma|linear] [--jpeg fast|libjpeg] [--fresh] [--enlarge] [--write FOLDER] WIDTH[,WIDTH…] FILE…
import Coordination
import Imaging
import Measuring
import Memory
import Recipes
import TestSupport

private struct Options {
    var lanes = ImageDecoder.Lane.allCases
    var format = ImageFormat.jpeg
    var quality = 80
    /// Whether a PNG file gets a palette by the quality, because it was given.
    var choosesPalette = false
    var rounds = 20
    var folder: String?
    /// The least factor between the decoded size and the result, to try other rules than the service's.
    var margin: Double?
    var light = ResamplingLight.gamma
    var enlarge = false
    var jpeg: JPEGDecoder?
    /// Whether every round has another width, so that nothing prepared for the previous one can be used.
    var isFresh = false
    var measuresOperations = false
    var only: String?
    var widths: [Int] = []
    var files: [String] = []

    init(_ arguments: ArraySlice<String>) {
        var rest = arguments
        while let argument = rest.popFirst() {
            switch argument {
            case "--lane": lanes = rest.popFirst().flatMap(ImageDecoder.Lane.init(rawValue:)).map { [$0] } ?? []
            case "--format": format = rest.popFirst().flatMap(ImageFormat.init(rawValue:)) ?? format
            case "--quality":
                quality = rest.popFirst().flatMap { Int($0) } ?? quality
                choosesPalette = true
            case "--rounds": rounds = rest.popFirst().flatMap { Int($0) } ?? rounds
            case "--margin": margin = rest.popFirst().flatMap { Double($0) }
            case "--resample": light = rest.popFirst().flatMap(ResamplingLight.init(rawValue:)) ?? light
            case "--jpeg": jpeg = rest.popFirst().flatMap(JPEGDecoder.init(rawValue:)) ?? jpeg
            case "--operations": measuresOperations = true
            case "--only": only = rest.popFirst()
            case "--fresh": isFresh = true
            case "--enlarge": enlarge = true
            case "--write": folder = rest.popFirst()
            case _ where widths.isEmpty: widths = argument.split(separator: ",").compactMap { Int($0) }
            default: files.append(argument)
            }
        }
    }
}

func text(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
}

/// CPU milliseconds of one image.
private struct Cost {
    var decode = 0.0
    var render = 0.0
    var bytes = 0
    var decodedBytes = 0
    var total: Double { decode + render }
}

private func measure(_ name: String, number: Int, width: Int, options: Options) throws -> [ImageDecoder.Lane: Cost] {
    let source = read(name)
    let header = try ImageHeader.inspect(source)
    let limits = ImagingLimits()
    var costs: [ImageDecoder.Lane: Cost] = [:]
    // The first round warms up.
    for round in 0...options.rounds {
        var wishes = RenderingOptions()
        (wishes.width, wishes.quality, wishes.enlarge) = (width, options.quality, options.enlarge)
        if options.isFresh { wishes.width = width + (number * (options.rounds + 1) + round) % 97 }
        // A quality with PNG chooses the colors of a palette.
        let plan = try RenderPlan(
            options: wishes, format: options.format, isFormatChosen: options.choosesPalette, source: header,
            limits: limits, light: options.light)
        let level = options.margin.map { margin in
            [8, 4, 2].first { Double(header.size.width) >= margin * Double($0 * plan.outputSize.width) } ?? 1
        }
        let decode = DecodePlan(level: level ?? plan.decode.level)
        for lane in options.lanes {
            let token = WorkToken()
            let start = processMilliseconds()
            let image = try ImageDecoder.decode(
                source, header: header, plan: decode, limits: limits, token: token, lane: lane,
                jpeg: options.jpeg)
            let decoded = processMilliseconds()
            let result = try ImageRenderer.render(image, plan: plan, token: token)
            let end = processMilliseconds()
            if round == 0 {
                if let folder = options.folder {
                    let base = name.split(separator: "/").last.map(String.init) ?? name
                    write(result.bytes, "\(folder)/\(base)-\(width)-\(lane.rawValue).\(result.format.fileExtension)")
                }
                continue
            }
            costs[lane, default: Cost()].decode += (decoded - start) / Double(options.rounds)
            costs[lane, default: Cost()].render += (end - decoded) / Double(options.rounds)
            costs[lane]?.bytes = result.bytes.count
            costs[lane]?.decodedBytes = image.byteCount
        }
    }
    return costs
}

private func run() throws {
    let options = Options(CommandLine.arguments.dropFirst())
    try ImageLibrary.start()
    if options.measuresOperations {
        for width in options.widths {
            for file in options.files {
                try OperationCosts(clock: processMilliseconds, only: options.only).measure(
                    read(file), name: file.split(separator: "/").last.map(String.init) ?? file, width: width,
                    format: options.format, quality: options.quality, rounds: options.rounds, light: options.light)
            }
        }
        return
    }
    print(
        "| source | width | lane | decode ms | render ms | together | bytes | decoded bytes | ratio | ratio of renders |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for width in options.widths {
        var sums: [ImageDecoder.Lane: Double] = [:]
        for (number, file) in options.files.enumerated() {
            let costs = try measure(file, number: number, width: width, options: options)
            for lane in options.lanes {
                guard let cost = costs[lane] else { continue }
                sums[lane, default: 0] += cost.total
                let ratios =
                    costs[.vips].map { "\(text(cost.total / $0.total)) | \(text(cost.render / $0.render))" } ?? " | "
                let name = file.split(separator: "/").last.map(String.init) ?? file
                print(
                    "| \(name) | \(width) | \(lane.rawValue) | \(text(cost.decode)) | \(text(cost.render)) |"
                        + " \(text(cost.total)) | \(cost.bytes) | \(cost.decodedBytes) | \(ratios) |")
            }
        }
        let count = Double(max(1, options.files.count))
        for lane in options.lanes {
            guard let sum = sums[lane] else { continue }
            let ratio = sums[.vips].map { text(sum / $0) } ?? ""
            print("| mean | \(width) | \(lane.rawValue) | | | \(text(sum / count)) | | | \(ratio) | |")
        }
    }
}

try run()
