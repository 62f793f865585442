// Measures one decode, render, step or refusal: its cost and its use of memory and time. One in each process, because
// freed memory is not returned to the kernel at once; `Benchmarks/costs.py` calls it for every kind.
//
// Usage: costs list | make KIND FILE | decode FILE LEVEL [animated] | render FORMAT WIDTH HEIGHT BANDS SUBJECT
// [QUALITY]
//     | step NAME WIDTH HEIGHT BANDS|planes | refuse FILE
import Coordination
import Imaging
import Measuring
import Memory
import Recipes
import TestSupport

/// Runs `body` and prints its use of memory and time, and its cost, as JSON.
private func measure(cost: Int, time: Duration = .zero, _ body: () throws -> String) {
    let before = ProcessMemory.resident
    let milliseconds = processMilliseconds()
    ProcessMemory.resetPeak()
    let outcome: String
    do { outcome = try body() } catch { outcome = "\(error)" }
    let taken = max(0, ProcessMemory.peak - before)
    let cpu = Int((processMilliseconds() - milliseconds) * 1_000)
    let text = outcome.map { $0 == "\"" ? "'" : $0 }
    let microseconds = Int(time / .microseconds(1))
    print(
        """
        {"cost": \(cost), "taken": \(taken), "costMicroseconds": \(microseconds), "cpuMicroseconds": \(cpu), \
        "outcome": "\(String(text))"}
        """)
}

private func decode(_ path: String, level: Int, isAnimated: Bool) throws {
    let bytes = read(path)
    let header = try ImageHeader.inspect(bytes)
    let plan = DecodePlan(level: level, isAnimated: isAnimated, drawnSize: header.vectorSize == nil ? nil : header.size)
    var limits = ImagingLimits()
    limits.sourceFormats = Set(ImageFormat.allCases)
    let time = header.timeCost(of: plan, fileByteCount: bytes.count)
    measure(cost: header.cost(of: plan, fileByteCount: bytes.count), time: time) {
        let image = try ImageDecoder.decode(bytes, header: header, plan: plan, limits: limits, token: WorkToken())
        return "\(image.size) × \(image.frames), \(image.byteCount) bytes"
    }
}

/// An image that is rendered.
private enum Subject: String {
    case photo, noise
    /// Few enough colors for a palette.
    case speckles

    func image(_ size: PixelSize, bands: Int) -> DecodedImage {
        let image: SampleImage =
            switch self {
            case .photo: bands == 3 ? .photo(size) : .photoWithAlpha(size)
            case .noise: .noise(size, bands: bands)
            case .speckles: .speckles(size, bands: bands, colors: 256)
            }
        return DecodedImage(pixels: SharedBytes(image.pixels), size: size, bands: bands)
    }
}

private func render(_ format: ImageFormat, _ size: PixelSize, bands: Int, _ subject: Subject, quality: Int?) {
    let image = subject.image(size, bands: bands)
    let plan = RenderPlan(
        source: FrameShape(size: size, hasAlpha: bands == 4), steps: [ResampleStep(to: size)], format: format,
        quality: quality ?? format.encoderQuality(pixels: size.area))
    let header = ImageHeader(format: .png, storedSize: size, bands: bands, hasAlpha: bands == 4)
    measure(cost: plan.cost, time: plan.timeCost(of: header)) {
        "\(try ImageRenderer.render(image, plan: plan, token: WorkToken()).bytes.count) bytes"
    }
}

private func reject(_ path: String) {
    let bytes = read(path)
    measure(cost: 16 << 20) {
        let header = try ImageHeader.inspect(bytes)
        var limits = ImagingLimits()
        // The frames of the largest animation have 61 million pixels.
        limits.maximumSourcePixels = 50_000_000
        let image = try ImageDecoder.decode(
            bytes, header: header, plan: DecodePlan(isAnimated: header.frames > 1), limits: limits, token: WorkToken())
        return "decoded: \(image.size)"
    }
}

private let arguments = CommandLine.arguments.dropFirst()
try ImageLibrary.start()
switch (arguments.first, Array(arguments.dropFirst())) {
case ("list", _):
    for source in SampleSource.allCases { print("source", source) }
    for step in SampleStep.allCases { print("step", step) }
    for trap in ImageTrap.allCases { print(ImageTrap.rejected.contains(trap) ? "refused" : "trap", trap) }
case ("make", let rest) where rest.count == 2:
    guard let file = SampleSource(rawValue: rest[0])?.file ?? ImageTrap(rawValue: rest[0])?.bytes.array else {
        fatalError("no kind \(rest[0])")
    }
    write(SharedBytes(file), rest[1])
case ("decode", let rest) where rest.count >= 2:
    try decode(rest[0], level: Int(rest[1]) ?? 1, isAnimated: rest.count == 3)
case ("render", let rest) where 5...6 ~= rest.count:
    guard let format = ImageFormat(rawValue: rest[0]), let width = Int(rest[1]), let height = Int(rest[2]),
        let bands = Int(rest[3]), let subject = Subject(rawValue: rest[4])
    else { fatalError("no such render") }
    render(
        format, PixelSize(width: width, height: height), bands: bands, subject,
        quality: rest.count == 6 ? Int(rest[5]) : nil)
case ("step", let rest) where rest.count == 4:
    guard let step = SampleStep(rawValue: rest[0]), let width = Int(rest[1]), let height = Int(rest[2]) else {
        fatalError("no such step")
    }
    let measured = try MeasuredStep(step, on: PixelSize(width: width, height: height), bands: Int(rest[3]))
    measure(cost: measured.bytes) { try measured.writeOnce() }
    let (costed, taken) = try measured.time()
    print("{\"costMicroseconds\": \(costed), \"cpuMicroseconds\": \(taken)}")
case ("refuse", let rest) where rest.count == 1: reject(rest[0])
default: fatalError("list, make, decode, render, step or refuse?")
}
