// Measures the two lanes of Imaging beside each other: CPU milliseconds per image of decode and render, in turns within one run,
// so that other load of the machine affects both.
//
// With --operations: CPU milliseconds of renders with each operation beside the same without.
//
// Usage: lanes [--operations] [--lane planar|vips] [--format jpeg] [--quality 80] [--rounds 20] [--margin 2] [--resample gamma|linear] [--jpeg fast|libjpeg] [--fresh] [--enlarge] [--write FOLDER] WIDTH[,WIDTH…] FILE…
import Coordination
import Glibc
import Imaging
import Memory

private struct Options {
    var lanes = ImageDecoder.Lane.allCases
    var format = ImageFormat.jpeg
    var quality = 80
    var rounds = 20
    var folder: String?
    /// The least factor between the decoded size and the result, to try other rules than the service's.
    var margin: Double?
    var light = ResamplingLight.gamma
    var enlarge = false
    var jpeg = JPEGDecoder.usual
    /// Whether every round has another width, so that nothing prepared for the previous one can be used.
    var isFresh = false
    var measuresOperations = false
    var widths: [Int] = []
    var files: [String] = []

    init(_ arguments: ArraySlice<String>) {
        var rest = arguments
        while let argument = rest.popFirst() {
            switch argument {
            case "--lane": lanes = rest.popFirst().flatMap(ImageDecoder.Lane.init(rawValue:)).map { [$0] } ?? []
            case "--format": format = rest.popFirst().flatMap(ImageFormat.init(rawValue:)) ?? format
            case "--quality": quality = rest.popFirst().flatMap { Int($0) } ?? quality
            case "--rounds": rounds = rest.popFirst().flatMap { Int($0) } ?? rounds
            case "--margin": margin = rest.popFirst().flatMap { Double($0) }
            case "--resample": light = rest.popFirst().flatMap(ResamplingLight.init(rawValue:)) ?? light
            case "--jpeg": jpeg = rest.popFirst().flatMap(JPEGDecoder.init(rawValue:)) ?? jpeg
            case "--operations": measuresOperations = true
            case "--fresh": isFresh = true
            case "--enlarge": enlarge = true
            case "--write": folder = rest.popFirst()
            case _ where widths.isEmpty: widths = argument.split(separator: ",").compactMap { Int($0) }
            default: files.append(argument)
            }
        }
    }
}

/// CPU milliseconds of this process, all threads together.
private func processTime() -> Double {
    var usage = rusage()
    unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func milliseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1_000 + Double(time.tv_usec) / 1_000 }
    return milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime)
}

private func read(_ path: String) -> SharedBytes {
    guard let file = unsafe fopen(path, "rb") else { fatalError("\(path) cannot be read") }
    defer { unsafe fclose(file) }
    var bytes = ByteAccumulator()
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while case let count = unsafe fread(&buffer, 1, buffer.count, file), count > 0 {
        unsafe buffer.withUnsafeBytes { unsafe bytes.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
    return bytes.finish()
}

private func write(_ bytes: SharedBytes, _ path: String) {
    guard let file = unsafe fopen(path, "wb") else { fatalError("\(path) cannot be written") }
    defer { unsafe fclose(file) }
    _ = unsafe bytes.withUnsafeBytes { unsafe fwrite($0.baseAddress, 1, $0.count, file) }
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
        let plan = try RenderPlan(
            options: wishes, format: options.format, source: header, limits: limits, light: options.light)
        let level = options.margin.map { margin in
            [8, 4, 2].first { Double(header.size.width) >= margin * Double($0 * plan.outputSize.width) } ?? 1
        }
        let decode = DecodePlan(level: level ?? plan.decode.level)
        for lane in options.lanes {
            let token = WorkToken()
            let start = processTime()
            let image = try ImageDecoder.decode(
                source, header: header, plan: decode, limits: limits, token: token, lane: lane,
                jpeg: options.jpeg)
            let decoded = processTime()
            let result = try ImageRenderer.render(image, plan: plan, token: token)
            let end = processTime()
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
                try OperationCosts(clock: processTime).measure(
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
