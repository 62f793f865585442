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
        var bench = Workbench()
        while let (message, descriptors) = socket.nextMessage(count: WorkerRequest.byteCount) {
            guard let answer = bench.answer(to: WorkerRequest(message), descriptors), socket.write(answer.message)
            else { break }
        }
        // Without a word to anybody: the server is gone, or does not speak our language.
        _exit(0)
    }
}

/// The memory that a worker shares with the server, for as long as the server leaves it the same.
private struct Workbench: ~Copyable {
    private var file, pixels: KeptMemory?

    /// The answer; nil where nobody asks so.
    mutating func answer(to request: WorkerRequest?, _ descriptors: [CInt]) -> WorkerAnswer? {
        switch request {
        case .decode(let byteCount, let plan, let new):
            guard descriptors.count == new.count else { return nil }
            if new.contains(.file) { file = KeptMemory(adopting: descriptors[0], isWritable: false) }
            if new.contains(.pixels) { pixels = KeptMemory(adopting: descriptors[new.count - 1], isWritable: true) }
            guard var file = file.take(), var pixels = pixels.take() else { return nil }
            let answer = Self.decode(&file, byteCount: byteCount, plan: plan, into: &pixels)
            // Memory that the server does not keep either is given back before it hears of it.
            if byteCount <= KeptMemory.count { self.file = consume file }
            if case .decoded(let picture) = answer, picture.isCopied { self.pixels = consume pixels }
            return answer
        case .attempt(let deed): return .attempted(deed.attempt())
        case nil: return nil
        }
    }

    /// Decodes the file of `byteCount` bytes, and leaves pixels.
    private static func decode(
        _ file: inout KeptMemory, byteCount: Int, plan: DecodePlan, into pixels: inout KeptMemory
    ) -> WorkerAnswer {
        do {
            let bytes = try file.bytes(count: byteCount)
            let image = try ImageDecoder.decode(
                bytes, header: .inspect(bytes), plan: plan, limits: .none, token: WorkToken(),
                room: { try pixels.room(count: $0) })
            var description = DecodedDescription(image)
            let delays = description.delays.flatMap { delay -> [UInt8] in
                var writer = MessageWriter(count: 4)
                writer.put(UInt32(clamping: delay))
                return writer.finish()
            }
            let profile = description.profile?.file.array ?? []
            try pixels.memory.append(delays + profile, at: image.pixels.count)
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
