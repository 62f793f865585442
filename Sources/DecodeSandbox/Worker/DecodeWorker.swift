import CLinux
import Coordination
import Glibc
import Imaging
import Memory

/// What runs in a worker process: takes itself everything that decoding does not need, then decodes what it is handed, until the
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
        do {
            let protections = try Confinement.confine(limits, socket: socket.descriptor)
            _ = socket.write(WorkerAnswer.ready(protections).message)
        } catch {
            _ = socket.write(WorkerAnswer.notStarted("\(error)").message)
            exit(70)
        }
        while let (message, descriptors) = socket.nextMessage(count: WorkerRequest.byteCount) {
            guard let answer = answer(to: WorkerRequest(message), descriptors), socket.write(answer.message) else {
                break
            }
        }
        // Without a word to anybody: the server is gone, or does not speak our language.
        _exit(0)
    }

    private static func answer(to request: WorkerRequest?, _ descriptors: [CInt]) -> WorkerAnswer? {
        switch (request, descriptors.count) {
        case (.decode(let byteCount, let plan), 2):
            // Closed when this returns, before the answer: the server seals what nobody can write to any more.
            let file = SharedMemory(adopting: descriptors[0])
            let pixels = SharedMemory(adopting: descriptors[1])
            return decode(file, byteCount: byteCount, plan: plan, into: pixels)
        case (.attempt(let deed), 0): return .attempted(deed.attempt())
        default: return nil
        }
    }

    private static func decode(
        _ file: borrowing SharedMemory, byteCount: Int, plan: DecodePlan, into pixels: borrowing SharedMemory
    ) -> WorkerAnswer {
        do {
            let bytes = try file.mapped(count: byteCount)
            let image = try ImageDecoder.decode(
                bytes, header: .inspect(bytes), plan: plan, limits: .none, token: WorkToken(),
                room: { count in
                    try pixels.resize(to: count)
                    return try pixels.writable(count: count)
                })
            var description = DecodedDescription(image)
            let delays = description.delays.flatMap { delay -> [UInt8] in
                var writer = MessageWriter(count: 4)
                writer.put(UInt32(clamping: delay))
                return writer.finish()
            }
            let profile = description.profile?.file.array ?? []
            try pixels.append(delays + profile, at: image.pixels.count)
            let delayCount = description.delays.count
            (description.delays, description.profile) = ([], nil)
            return .decoded(
                WorkerAnswer.Picture(
                    description: description, pixelCount: image.pixels.count, delayCount: delayCount,
                    profileCount: profile.count))
        } catch ImagingError.cannotDecode(let detail) {
            return .failed(detail)
        } catch {
            return .failed("\(error)")
        }
    }
}
