import Coordination
import Imaging

/// `alula self-test`: checks on this machine what serving relies on, and prints each finding.
enum SelfTestCommand {
    private static let help = """
        Usage: alula self-test

        Starts the image library, proves that it refuses what Alula does not decode, makes a picture in every output
        format and decodes it again. Exits with status 0 when all is well.
        """

    static func run(_ arguments: [String]) -> Never {
        if arguments.contains("--help") || arguments.contains("-h") { AlulaCommand.succeed(help) }
        guard arguments.isEmpty else {
            AlulaCommand.fail(["alula self-test: takes no arguments", "", help], status: 64)
        }
        AlulaCommand.say(
            "alula \(AlulaCommand.version), libvips \(ImageLibrary.version), \(availableProcessorCount()) processors")
        var isWell = check("image library starts and refuses foreign formats") { try ImageLibrary.start() }
        if isWell {
            for format in [ImageFormat.jpeg, .png, .webp, .gif, .avif] {
                isWell = check("\(format.rawValue) can be written and read") { try roundTrip(format) } && isWell
            }
        }
        if isWell { AlulaCommand.succeed("all is well") }
        AlulaCommand.fail(["alula self-test: something is wrong, see above"], status: 1)
    }

    private static func check(_ title: String, _ body: () throws -> Void) -> Bool {
        do {
            try body()
            AlulaCommand.say("  ok      \(title)")
            return true
        } catch {
            AlulaCommand.say("  FAILED  \(title): \(error)")
            return false
        }
    }

    private static func roundTrip(_ format: ImageFormat) throws {
        let size = PixelSize(width: 64, height: 48)
        let pixels = (0..<size.area).flatMap { index -> [UInt8] in
            let (row, column) = index.quotientAndRemainder(dividingBy: size.width)
            return [UInt8(column * 4), UInt8(row * 5), 128]
        }
        let file = try ImageEncoder.encode(pixels: pixels, size: size, bands: 3, format: format, quality: nil)
        var limits = ImagingLimits()
        limits.sourceFormats = Set(ImageFormat.allCases)
        let header = try ImageHeader.inspect(file.bytes)
        // AVIF is written on any machine; whether it is read is the operator's choice, so only its header is checked.
        guard header.size == size, header.format == format else {
            throw ImagingError.cannotDecode(detail: "a \(format.rawValue) of \(size) reads as \(header.size)")
        }
        guard format != .avif else { return }
        _ = try ImageDecoder.decode(
            file.bytes, header: header, plan: DecodePlan(), limits: limits, token: WorkToken())
    }
}
