import CLinux
import Coordination
import Glibc
import Imaging
import Memory
import Recipes

/// Confines the process, and then answers requests until the server ends.
package enum SandboxWorker {
    package static let command = "decode-worker"

    /// Milliseconds; the next image needs as much memory, and an idle worker releases it on request.
    private static let keepingTime = 1_000

    /// Runs a worker or a template; never returns.
    ///
    /// - Parameter arguments: ``WorkerLimits/arguments``, followed by ``TemplateProcess/argument`` for a template.
    package static func run(_ arguments: [String]) -> Never {
        let socket = MessageSocket(adopting: CInt(CLinux_worker_socket))
        let isTemplate = arguments.last == TemplateProcess.argument
        guard let limits = WorkerLimits(isTemplate ? arguments.dropLast() : arguments) else {
            _ = socket.write(WorkerResponse.notStarted("arguments").message)
            exit(64)
        }
        run(socket, limits: limits, isTemplate: isTemplate)
    }

    /// Runs in a copy of the server's process, which sends the limits and formats to start with.
    static func runForked() -> Never {
        let socket = MessageSocket(adopting: CInt(CLinux_worker_socket))
        guard let (message, _) = socket.nextMessage(count: ForkRequest.byteCount),
            let request = ForkRequest(message)
        else { _exit(0) }
        run(socket, limits: request.limits, for: request.formats)
    }

    /// - Parameter formats: The formats to decode; nil for all.
    private static func run(
        _ socket: MessageSocket, limits: WorkerLimits, for formats: Set<ImageFormat>? = nil, isTemplate: Bool = false
    ) -> Never {
        do {
            try Confinement.prepare(for: formats)
            if isTemplate { TemplateProcess.copy(socket) }
            CLinux_note_processors()
            let protections = try Confinement.confine(limits, for: formats, socket: socket.descriptor)
            _ = socket.write(WorkerResponse.ready(protections).message)
        } catch {
            _ = socket.write(WorkerResponse.notStarted("\(error)").message)
            exit(70)
        }
        CLinux_keep_free_memory(Self.keepingTime)
        var handler = RequestHandler()
        while let (message, descriptors) = socket.nextMessage(count: WorkerRequest.byteCount) {
            // The server bound this thread to one processor to wake it. Threads that start now must not inherit this.
            CLinux_free_processor()
            let request = WorkerRequest(message)
            if request == .releaseMemory {
                CLinux_return_free_memory()
                continue
            }
            guard let response = handler.response(to: request, descriptors: descriptors), socket.write(response.message)
            else { break }
        }
        // The server has ended or sent an unknown message, so there is no one to report to.
        _exit(0)
    }
}

enum TemplateProcess {
    static let argument = "template"
    /// The message that requests a copy; it carries the copy's socket.
    static let request: [UInt8] = [1]

    /// Copies the process on request; returns only in the copies, whose socket replaces `socket`.
    static func copy(_ socket: MessageSocket) {
        // Copies need little of the startup code.
        CLinux_release_program_pages()
        var isConnected = socket.write(WorkerResponse.prepared.message)
        while isConnected, let (_, descriptors) = socket.nextMessage(count: request.count), let end = descriptors.first
        {
            let process = CLinux_copy_process(end)
            if process == 0 { return }
            close(end)
            isConnected = socket.write(WorkerResponse.copied(process).message)
        }
        _exit(0)
    }
}

private struct RequestHandler: ~Copyable {
    private var input, output: ReusableMemory?

    mutating func response(to request: WorkerRequest?, descriptors: [CInt]) -> WorkerResponse? {
        switch request {
        case .perform(let work, let byteCount, let maximumResultBytes, let newMemories):
            guard descriptors.count == newMemories.count else { return nil }
            var descriptors = descriptors[...]
            if newMemories.contains(.input) {
                input = ReusableMemory(adopting: descriptors.removeFirst(), isWritable: false)
            }
            if newMemories.contains(.output) {
                output = ReusableMemory(adopting: descriptors.removeFirst(), isWritable: true)
            }
            // Memory for only this request is unmapped before the server gets the response.
            let largeInput = newMemories.contains(.largeInput) ? SharedMemory(adopting: descriptors.removeFirst()) : nil
            let largeOutput =
                newMemories.contains(.largeOutput) ? SharedMemory(adopting: descriptors.removeFirst()) : nil
            guard let reusable = output.take() else { return nil }
            var output = OutputMemory(reusable, large: largeOutput, capacity: maximumResultBytes)
            let response = Self.response(
                to: work, on: &input, largeInput: largeInput, byteCount: byteCount, into: &output)
            self.output = output.finish()
            return response
        case .attempt(let action): return .attempted(action.attempt())
        case .releaseMemory, nil: return nil
        }
    }

    private static func response(
        to work: WorkerRequest.Work, on input: inout ReusableMemory?, largeInput: consuming SharedMemory?,
        byteCount: Int, into output: inout OutputMemory
    ) -> WorkerResponse {
        CLinux_forget_shortage()
        do {
            let bytes = try bytes(of: &input, largeInput: largeInput, count: byteCount)
            return switch work {
            case .decode(let plan): try decode(bytes, plan: plan, into: &output)
            case .findFaces(let size): .faces(try FaceSearch(size: size, bytes: bytes).faces())
            case .encode(let image, let format, let settings, let delays):
                try encode(
                    DecodedImage(image, pixels: bytes, delays: delays), as: format, settings: settings, into: &output)
            }
        } catch ImagingError.outOfMemory {
            return .outOfMemory
        } catch ImagingError.cannotDecode(let detail), ImagingError.encodeFailed(let detail) {
            // Libraries do not distinguish damage from a lack of memory.
            if CLinux_is_short_of_memory() != 0 { return .outOfMemory }
            return ImageDecoder.isUnreliable ? .unreliable(detail) : .failed(detail)
        } catch let error as SharedMemoryError where error.isShortage {
            return .outOfMemory
        } catch {
            return .failed("\(error)")
        }
    }

    /// Returns the input, which is valid until the server writes again.
    private static func bytes(
        of input: inout ReusableMemory?, largeInput: consuming SharedMemory?, count: Int
    ) throws(SharedMemoryError) -> SharedBytes {
        if let largeInput { return try largeInput.mapped(count: count) }
        guard var reusable = input.take(), count <= ReusableMemory.count else {
            throw SharedMemoryError("no input", number: 0)
        }
        let bytes = try reusable.bytes(count: count)
        input = consume reusable
        return bytes
    }

    private static func decode(
        _ file: SharedBytes, plan: DecodePlan, into output: inout OutputMemory
    ) throws -> WorkerResponse {
        let image = try ImageDecoder.decode(
            file, header: .inspect(file), plan: plan, limits: .none, token: WorkToken(),
            allocate: { try output.allocate(count: $0) })
        var description = image.description
        let profile = description.profile?.file.array ?? []
        // Coarser levels that cannot be used stay in the memory.
        let pixelCount = plan.coarserLevels.isEmpty ? image.pixels.count : output.allocatedCount
        try output.append(image.delayBytes + profile, after: pixelCount)
        let delayCount = description.delays.count
        description.delays = []
        description.profile = nil
        return .decoded(
            WorkerResponse.ClaimedImage(
                description: description, pixelCount: pixelCount, delayCount: delayCount, profileCount: profile.count,
                coarser: image.coarser.map(\.description)))
    }

    private static func encode(
        _ image: DecodedImage, as format: ImageFormat, settings: EncoderSettings, into output: inout OutputMemory
    ) throws -> WorkerResponse {
        let file = try ImageEncoder.encode(image, as: format, settings: settings)
        let memory = try output.allocate(count: file.count)
        unsafe file.withUnsafeBytes { unsafe memory.bytes.copyMemory(from: $0) }
        return .encoded(byteCount: file.count)
    }
}
