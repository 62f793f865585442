import CLinux
import Coordination
import Glibc
import Imaging
import Memory

/// What runs in a worker process: takes itself everything that its work does not need, then works on what it is handed, until the
/// server is gone.
package enum DecodeWorker {
    /// The subcommand that the server starts the executable with.
    package static let command = "decode-worker"

    /// Serves the socket that the server has passed on; never returns.
    ///
    /// - Parameter arguments: What follows the command, as ``WorkerLimits`` wrote it.
    package static func run(_ arguments: [String]) -> Never {
        let socket = MessageSocket(adopting: CInt(CLinux_worker_socket))
        guard let limits = WorkerLimits(arguments) else {
            _ = socket.write(WorkerAnswer.notStarted("arguments").message)
            exit(64)
        }
        CLinux_note_processors()
        do {
            let protections = try Confinement.confine(limits, socket: socket.descriptor)
            _ = socket.write(WorkerAnswer.ready(protections).message)
        } catch {
            _ = socket.write(WorkerAnswer.notStarted("\(error)").message)
            exit(70)
        }
        var bench = Workbench()
        while let (message, descriptors) = socket.nextMessage(count: WorkerRequest.byteCount) {
            // Before there is a thread that would inherit it: whoever called had this one woken where it was itself.
            CLinux_free_processor()
            guard let answer = bench.answer(to: WorkerRequest(message), descriptors), socket.write(answer.message)
            else { break }
        }
        // Without a word to anybody: the server is gone, or does not speak our language.
        _exit(0)
    }
}

/// The memory that a worker shares with the server, for as long as the server leaves it the same.
private struct Workbench: ~Copyable {
    private var input, output: KeptMemory?

    /// The answer; nil where nobody asks so.
    mutating func answer(to request: WorkerRequest?, _ descriptors: [CInt]) -> WorkerAnswer? {
        switch request {
        case .perform(let work, let byteCount, let room, let new):
            guard descriptors.count == new.count else { return nil }
            var descriptors = descriptors[...]
            if new.contains(.input) { input = KeptMemory(adopting: descriptors.removeFirst(), isWritable: false) }
            if new.contains(.output) { output = KeptMemory(adopting: descriptors.removeFirst(), isWritable: true) }
            // Memory for this work only is given back before the server hears of it.
            let file = new.contains(.largeInput) ? SharedMemory(adopting: descriptors.removeFirst()) : nil
            let large = new.contains(.largeOutput) ? SharedMemory(adopting: descriptors.removeFirst()) : nil
            guard let kept = output.take() else { return nil }
            var output = OutputMemory(kept, large: large, room: room)
            let answer = Self.answer(to: work, on: &input, file, byteCount: byteCount, into: &output)
            self.output = output.finish()
            return answer
        case .attempt(let deed): return .attempted(deed.attempt())
        case nil: return nil
        }
    }

    private static func answer(
        to work: WorkerRequest.Work, on input: inout KeptMemory?, _ file: consuming SharedMemory?, byteCount: Int,
        into output: inout OutputMemory
    ) -> WorkerAnswer {
        do {
            let bytes = try bytes(of: &input, file, count: byteCount)
            return switch work {
            case .decode(let plan): try decode(bytes, plan: plan, into: &output)
            case .encode(let picture, let format, let quality):
                try encode(DecodedImage(picture, pixels: bytes), as: format, quality: quality, into: &output)
            }
        } catch ImagingError.cannotDecode(let detail), ImagingError.encodeFailed(let detail) {
            return .failed(detail)
        } catch let error as SharedMemoryError where error.isShortage {
            return .noRoom
        } catch {
            return .failed("\(error)")
        }
    }

    /// What the server has written, valid until it writes again.
    private static func bytes(
        of input: inout KeptMemory?, _ file: consuming SharedMemory?, count: Int
    ) throws(SharedMemoryError) -> SharedBytes {
        if let file { return try file.mapped(count: count) }
        guard var kept = input.take(), count <= KeptMemory.count else { throw SharedMemoryError("no input", 0) }
        let bytes = try kept.bytes(count: count)
        input = consume kept
        return bytes
    }

    /// Decodes the file, and leaves pixels.
    private static func decode(
        _ file: SharedBytes, plan: DecodePlan, into output: inout OutputMemory
    ) throws -> WorkerAnswer {
        let image = try ImageDecoder.decode(
            file, header: .inspect(file), plan: plan, limits: .none, token: WorkToken(),
            room: { try output.makeRoom(count: $0) })
        var description = DecodedDescription(image)
        let delays = description.delays.flatMap { delay -> [UInt8] in
            var writer = MessageWriter(count: 4)
            writer.put(UInt32(clamping: delay))
            return writer.finish()
        }
        let profile = description.profile?.file.array ?? []
        try output.append(delays + profile, behind: image.pixels.count)
        let delayCount = description.delays.count
        (description.delays, description.profile) = ([], nil)
        return .decoded(
            WorkerAnswer.Picture(
                description: description, pixelCount: image.pixels.count, delayCount: delayCount,
                profileCount: profile.count))
    }

    /// Encodes the picture, and leaves a file.
    private static func encode(
        _ picture: DecodedImage, as format: ImageFormat, quality: Int, into output: inout OutputMemory
    ) throws -> WorkerAnswer {
        let file = try ImageEncoder.encode(picture, as: format, quality: quality)
        let room = try output.makeRoom(count: file.count)
        unsafe file.withUnsafeBytes { unsafe room.bytes.copyMemory(from: $0) }
        return .encoded(byteCount: file.count)
    }
}
