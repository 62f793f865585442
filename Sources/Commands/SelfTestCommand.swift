import Coordination
import ImageSandbox
import Imaging
import Memory
import Program
import Recipes
import Settings
import Telemetry

enum SelfTestCommand {
    static let description = CommandDescription(
        name: "self-test", summary: "check the codecs and the sandbox on this machine", operands: "",
        text: """
            Starts the image library, checks that it rejects unsupported formats, and encodes and decodes an image in every output
            format. Then prints the protections that this kernel offers, starts worker processes, checks that each forbidden action
            fails, and decodes an image in every format. The exit status is 0 if everything works.
            """, takesSettings: false)

    static func run(_ arguments: [String]) -> Never {
        CommandRunner.run(description, with: arguments) { arguments in
            try arguments.rejectOperands()
            guard test() else { throw CommandFailure(code: "self_test", reason: "self-test failed") }
            return Program.print("all checks passed") ? 0 : 1
        }
    }

    private static func test() -> Bool {
        Program.print(
            "alula \(Program.build), libvips \(ImageLibrary.version), \(availableProcessorCount()) processors")
        var isSuccessful = check("image library starts and rejects other formats") { try ImageLibrary.start() }
        if isSuccessful {
            for format in ImageFormat.written {
                isSuccessful =
                    check("\(format.rawValue) can be written and read") { try roundTrip(format) } && isSuccessful
            }
        }
        return checkSandbox() && isSuccessful
    }

    private static func check(_ title: String, _ body: () throws -> Void) -> Bool {
        do {
            try body()
            Program.print("  ok      \(title)")
            return true
        } catch {
            Program.print("  FAILED  \(title): \(error)")
            return false
        }
    }

    private static func checkSandbox() -> Bool {
        Program.print("  kernel  \(Protections.offered)")
        let configuration = Settings().sandboxConfiguration
        var isSuccessful = true
        for action in ForbiddenAction.allCases {
            isSuccessful = checkRejection(of: action, launch: configuration.launch) && isSuccessful
        }
        let written = encodedByWorkers.map { $0.rawValue.uppercased() }.sorted().joined(separator: " and ")
        return check("a worker decodes every format, and writes \(written), behind all of it") {
            let codec = try SandboxedCodec(
                configuration, registry: MetricsRegistry(), logger: .silent, timekeeper: SystemTimekeeper())
            defer { codec.shutDown() }
            guard codec.protections.isSandbox else { throw NotConfined(protections: codec.protections) }
            for format in ImageFormat.written { try decode(try imageFile(format), by: codec) }
            for format in ImageFormat.allCases where !format.isWritten {
                if let file = try format.warmUpFile() { try decode(file, by: codec) }
            }
            let image = DecodedImage(pixels: SharedBytes(pixels), size: size, bands: 3)
            for format in encodedByWorkers {
                let settings = EncoderSettings(quality: 50, effort: format.effort, bitDepth: format.bitDepth)
                _ = try codec.encode(image, as: format, settings: settings, token: WorkToken())
            }
        } && isSuccessful
    }

    private static let encodedByWorkers = ImageFormat.written.filter(\.isEncodedByWorker)

    private struct NotConfined: Error {
        let protections: Protections
    }

    private static func checkRejection(of action: ForbiddenAction, launch: WorkerLaunch) -> Bool {
        do {
            switch try SandboxProbe.outcome(of: action, in: launch) {
            case .rejected(let error): Program.print("  ok      a worker cannot \(action.title): error \(error)")
            case .ended(let call?):
                Program.print("  ok      a worker cannot \(action.title): it is ended over \(call)")
            case .ended: Program.print("  ok      a worker cannot \(action.title): the kernel ends it")
            case .worked:
                Program.print("  FAILED  a worker can \(action.title)")
                return false
            }
            return true
        } catch {
            Program.print("  FAILED  a worker cannot \(action.title): \(error)")
            return false
        }
    }

    private static func roundTrip(_ format: ImageFormat) throws {
        let file = try imageFile(format)
        // Without a sandbox, the operator decides whether such a format is decoded, so check only its header.
        if ImageFormat.trusted.contains(format) {
            try decode(file, by: InProcessCodec())
        } else {
            _ = try ImageHeader.inspect(file)
        }
    }

    private static let size = PixelSize(width: 64, height: 48)

    private static let pixels = (0..<size.area).flatMap { index -> [UInt8] in
        let (row, column) = index.quotientAndRemainder(dividingBy: size.width)
        return [UInt8(column * 4), UInt8(row * 5), 128]
    }

    private static func imageFile(_ format: ImageFormat) throws -> SharedBytes {
        try ImageEncoder.encode(pixels: pixels, size: size, bands: 3, format: format, quality: nil).bytes
    }

    private static func decode(_ file: SharedBytes, by codec: some ImageCodec) throws {
        let header = try ImageHeader.inspect(file)
        let image = try codec.decode(file, header: header, plan: DecodePlan(), limits: .none, token: WorkToken())
        guard image.size == header.size else {
            throw ImagingError.cannotDecode(detail: "a \(header.format.rawValue) of \(header.size) is \(image.size)")
        }
    }
}
