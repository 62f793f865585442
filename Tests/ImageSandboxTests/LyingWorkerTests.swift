import CLinux
import Coordination
import Glibc
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

@testable import ImageSandbox

/// A simulated worker: an idle process, and a thread that responds in its place.
private final class PlayedWorker {
    let process: WorkerProcess
    private let thread = WorkerPool(count: 1, maximumQueued: 1, name: "played")

    /// A worker that sends the bytes of `answer` after its first request.
    ///
    /// `answer` receives the descriptor of the output, or of a large file.
    init(_ answer: @escaping @Sendable (_ pixels: CInt) -> [UInt8]?) throws {
        let (ours, theirs) = try MessageSocket.pair()
        // The process gets an unused socket, so that the connection closes when the thread ends.
        let (_, other) = try MessageSocket.pair()
        let arguments = unsafe [strdup("sleep"), strdup("1000"), nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        let none: [UnsafeMutablePointer<CChar>?] = unsafe [nil]
        var id: pid_t = 0
        let error = unsafe CLinux_spawn_worker("/bin/sleep", arguments, none, other.descriptor, &id)
        precondition(error == 0, "sleep cannot be started")
        process = WorkerProcess(id: id, socket: ours)
        _ = thread.submit { _ in
            guard let (_, descriptors) = theirs.nextMessage(count: WorkerRequest.byteCount) else { return }
            defer { for descriptor in descriptors { close(descriptor) } }
            // A large result or file has separate memory.
            guard descriptors.count >= 2, let pixels = descriptors.last, let message = answer(pixels) else { return }
            _ = theirs.write(message)
        }
    }

    deinit {
        _ = process.end()
        thread.shutDown()
    }

    /// The outcome of a request to decode a small photograph.
    func outcome(
        of file: SharedBytes = ImageFixture.jpeg.bytes, token: WorkToken = WorkToken()
    ) throws -> WorkerProcess.Outcome<DecodedImage> {
        let header = try ImageHeader.inspect(file)
        let maximum = header.maximumPixelBytes(of: DecodePlan())
        let job = WorkerJob(work: .decode(DecodePlan()), bytes: file, maximumResultBytes: maximum, token: token)
        return try process.perform(job) { answer, output in
            guard case .decoded(let claim) = answer else { throw ImagingError.notAnImage }
            return try claim.image(in: &output, of: header, by: DecodePlan())
        }
    }

    /// The outcome of a request to encode a gray image of 64×48 pixels.
    func encodingOutcome() throws -> WorkerProcess.Outcome<SharedBytes> {
        let image = DecodedImage(
            pixels: SharedBytes([UInt8](repeating: 7, count: 64 * 48)), size: ImageFixture.size, bands: 1)
        let work = WorkerRequest.Work.encode(
            image.description, as: .avif, settings: EncoderSettings(quality: 50, effort: 1))
        let maximum = WorkerResponse.maximumFileBytes(of: image.size)
        let job = WorkerJob(work: work, bytes: image.pixels, maximumResultBytes: maximum, token: WorkToken())
        return try process.perform(job) { answer, output in
            guard case .encoded(let count) = answer else { throw ImagingError.notAnImage }
            return try WorkerResponse.file(byteCount: count, in: &output, format: .avif, size: image.size)
        }
    }
}

@Suite(.timeLimit(.minutes(2)))
struct LyingWorkerTests {
    /// A correct response about 64×48 pixels, which `lie` may change.
    private static func answer(
        _ lie: @escaping @Sendable (inout WorkerResponse.ClaimedImage) -> Void = { _ in }
    ) -> @Sendable (CInt) -> [UInt8]? {
        { _ in
            var claim = WorkerResponse.ClaimedImage(
                description: DecodedDescription(size: ImageFixture.size, bands: 3), pixelCount: 64 * 48 * 3,
                delayCount: 0, profileCount: 0)
            lie(&claim)
            return WorkerResponse.decoded(claim).message
        }
    }

    /// Planes of the image as libjpeg returns them, which `lie` may change.
    private static func planes(
        _ lie: @escaping @Sendable (inout [DecodedDescription.PlaneShape]) -> Void
    ) -> @Sendable (CInt) -> [UInt8]? {
        answer { claim in
            let half = PixelSize(width: 32, height: 24)
            claim.pixelCount = 64 * 48 + 2 * 64 * 24
            claim.description.planes = [ImageFixture.size, half, half].map { size in
                DecodedDescription.PlaneShape(
                    size: size, region: Plane.Region(width: Double(size.width), height: Double(size.height)))
            }
            lie(&claim.description.planes)
        }
    }

    @Test func `a true response is accepted`() throws {
        for answer in [Self.answer(), Self.planes { _ in }] {
            guard case .done(let image) = try PlayedWorker(answer).outcome() else {
                Issue.record("an honest answer was refused")
                continue
            }
            #expect(image.size == ImageFixture.size)
        }
    }

    private static let lies: [String: @Sendable (CInt) -> [UInt8]?] = [
        "none": answer { $0.pixelCount = 0 },
        "another size": answer { $0.description.size = PixelSize(width: 48, height: 64) },
        "a huge size": answer { $0.description.size = PixelSize(width: 1 << 31, height: 1 << 31) },
        "another number of bands": answer { $0.description.bands = 4 },
        "no bands": answer { $0.description.bands = 0 },
        "delays of a still": answer { $0.delayCount = 1 },
        "many delays": answer { $0.delayCount = 1 << 30 },
        "an invalid profile": answer { $0.profileCount = 200 },
        "missing pixels that the plan does not allow": answer { $0.description.isIncomplete = true },
        "no answer of this kind": { _ in WorkerResponse.ready(.none).message },
        "no message": { _ in [UInt8](repeating: 7, count: WorkerResponse.byteCount) },
        "a short message": { _ in [1] },
        "a long message": { _ in [UInt8](repeating: 3, count: 2 * WorkerResponse.byteCount) },
        "two planes": planes { $0.removeLast() },
        "luma of another size": planes { $0[0].size.width = 63 },
        "chroma larger than luma": planes { $0[1].size = PixelSize(width: 128, height: 12) },
        "an image outside its plane": planes { $0[1].region.left = 1 },
        "an image of a width that is not a number": planes { $0[2].region.width = .nan },
        "an image of infinite height": planes { $0[2].region.height = .infinity },
        "an image without height": planes { $0[0].region.height = 0 },
    ]

    @Test(arguments: lies.keys.sorted())
    func `a false response is rejected`(lie: String) throws {
        let answer = try #require(Self.lies[lie])
        guard case .protocolError = try PlayedWorker(answer).outcome() else {
            Issue.record("\(lie) was accepted")
            return
        }
    }

    @Test func `a worker cannot shorten the memory that the server reads`() throws {
        let outcome = try PlayedWorker { pixels in
            let byte: [UInt8] = [200]
            guard ftruncate(pixels, 0) != 0, errno == EPERM, unsafe pwrite(pixels, byte, 1, 0) == 1 else { return nil }
            return Self.answer()(pixels)
        }.outcome()
        guard case .done(let image) = outcome else {
            Issue.record("the memory became shorter")
            return
        }
        #expect(image.pixels.array.first == 200)
    }

    @Test func `a worker that closes its connection is lost`() throws {
        guard case .ended = try PlayedWorker({ _ in nil }).outcome() else {
            Issue.record("the worker was not lost")
            return
        }
    }

    @Test func `a request without a waiting caller is interrupted`() throws {
        let token = WorkToken()
        let gate = Locked(false)
        let worker = try PlayedWorker { _ in
            // The caller leaves after the request was sent, and the response arrives after the outcome is known.
            token.cancel()
            while !gate.withLock({ $0 }) { sched_yield() }
            return nil
        }
        defer { gate.withLock { $0 = true } }
        guard case .interrupted(wasBusy: false) = try worker.outcome(token: token) else {
            Issue.record("the wait went on, or an idle process was busy")
            return
        }
    }

    /// The side of an image that is too large to be copied.
    private static let side = 1_280

    /// A correct response about this image.
    private static func manyPixels(more: Int = 0) -> [UInt8] {
        WorkerResponse.decoded(
            WorkerResponse.ClaimedImage(
                description: DecodedDescription(size: PixelSize(width: side, height: side), bands: 3),
                pixelCount: side * side * 3 + more, delayCount: 0, profileCount: 0)
        ).message
    }

    private func outcomeOfManyPixels(_ worker: PlayedWorker) throws -> WorkerProcess.Outcome<DecodedImage> {
        try worker.outcome(of: ImageFixture.photo(width: Self.side, height: Self.side, format: .png))
    }

    @Test func `many pixels are not copied, and no process can change them`() throws {
        let copy = Locked<CInt>(-1)
        let worker = try PlayedWorker { pixels in
            copy.withLock { $0 = dup(pixels) }
            return Self.manyPixels()
        }
        guard case .done(let image) = try outcomeOfManyPixels(worker) else {
            Issue.record("an honest answer was refused")
            return
        }
        #expect(image.pixels.count == Self.side * Self.side * 3)
        let kept = copy.withLock { $0 }
        let byte: [UInt8] = [1]
        #expect(unsafe pwrite(kept, byte, 1, 0) < 0 && errno == EPERM)
        close(kept)
    }

    @Test func `many pixels that are still writable are rejected`() throws {
        let mapping = Locked<UInt>(0)
        let worker = try PlayedWorker { pixels in
            let message = Self.manyPixels()
            let base = unsafe mmap(nil, 4_096, PROT_READ | PROT_WRITE, MAP_SHARED, pixels, 0)
            mapping.withLock { $0 = UInt(bitPattern: base) }
            return message
        }
        guard case .protocolError = try outcomeOfManyPixels(worker) else {
            Issue.record("the worker could change the pixels")
            return
        }
        unsafe munmap(UnsafeMutableRawPointer(bitPattern: mapping.withLock { $0 }), 4_096)
    }

    @Test(arguments: [-1, 1])
    func `many pixels in too much or too little memory are rejected`(more: Int) throws {
        guard case .protocolError = try outcomeOfManyPixels(PlayedWorker { _ in Self.manyPixels(more: more) }) else {
            Issue.record("the memory was of another size")
            return
        }
    }

    @Test func `shared memory neither grows nor shrinks`() throws {
        let errors = Locked<[CInt]>([])
        for isLarge in [false, true] {
            let worker = try PlayedWorker { memory in
                var status = stat()
                _ = unsafe fstat(memory, &status)
                let byte: [UInt8] = [1]
                for grow in [
                    { ftruncate(memory, status.st_size + 1) },
                    { CInt(clamping: unsafe pwrite(memory, byte, 1, status.st_size)) },
                    { ftruncate(memory, 0) },
                ] {
                    let result = grow()
                    errors.withLock { $0.append(result < 0 ? errno : 0) }
                }
                return nil
            }
            _ = isLarge ? try outcomeOfManyPixels(worker) : try worker.outcome()
        }
        #expect(errors.withLock { $0 } == [CInt](repeating: EPERM, count: 6))
    }

    @Test func `a worker can neither change nor enlarge a large file`() throws {
        let errors = Locked<[CInt]>([])
        let file = ImageTrap.jpegProfile.bytes
        try #require(file.count > ReusableMemory.count)
        let worker = try PlayedWorker { memory in
            let byte: [UInt8] = [1]
            for change in [
                { ftruncate(memory, file.count + 1) }, { CInt(clamping: unsafe pwrite(memory, byte, 1, 0)) },
            ] {
                let result = change()
                errors.withLock { $0.append(result < 0 ? errno : 0) }
            }
            return nil
        }
        let header = ImageHeader(format: .jpeg, storedSize: PixelSize(width: 8, height: 8))
        let job = WorkerJob(work: .decode(DecodePlan()), bytes: file, maximumResultBytes: 1, token: WorkToken())
        _ = try worker.process.perform(job) { _, _ in header }
        #expect(errors.withLock { $0 } == [EPERM, EPERM])
    }

    @Test func `a size that the header rules out is never mapped`() throws {
        // A worker fills all the memory that an expensive header allows, and claims an image of this size.
        let size = PixelSize(width: 4 * Self.side, height: 4 * Self.side)
        let description = DecodedDescription(size: size, bands: 4)
        let claim = WorkerResponse.ClaimedImage(
            description: description, pixelCount: size.area * 4, delayCount: 0, profileCount: 0)
        let header = ImageHeader(format: .png, storedSize: ImageFixture.size)
        let kept = try ReusableMemory("test", isWritable: false)
        var output = try OutputMemory(kept, capacity: size.area * 4)
        #expect(throws: ImagingError.self) { try claim.image(in: &output, of: header, by: DecodePlan()) }
        // The memory was not sealed, and therefore was not read.
        let descriptor = output.largeDescriptor ?? -1
        let byte: [UInt8] = [1]
        #expect(unsafe pwrite(descriptor, byte, 1, 0) == 1)
    }

    @Test func `memory that holds more than announced is rejected`() throws {
        let worker = try PlayedWorker { memory in
            var status = stat()
            _ = unsafe fstat(memory, &status)
            // The memory is for four bands, but the image has two.
            return posix_fallocate(memory, 0, status.st_size) == 0 ? Self.manyGrayPixels : nil
        }
        let outcome = try worker.outcome(of: ImageFixture.photo(width: 2 * Self.side, height: Self.side, format: .png))
        guard case .protocolError = outcome else {
            Issue.record("more memory was accepted than announced: \(outcome)")
            return
        }
    }

    private static let manyGrayPixels = WorkerResponse.decoded(
        WorkerResponse.ClaimedImage(
            description: DecodedDescription(size: PixelSize(width: 2 * side, height: side), bands: 2),
            pixelCount: 2 * side * side * 2, delayCount: 0, profileCount: 0)
    ).message

    @Test func `a worker that sends messages or uses CPU time without a request is detected`() throws {
        let (ours, theirs) = try MessageSocket.pair()
        let process = WorkerProcess(id: getpid(), socket: ours)
        #expect(process.idleFault == nil)
        // This process uses CPU time itself.
        let end = process.processorTime + .milliseconds(1_100)
        while process.processorTime < end {}
        #expect(process.isBusyWhileIdle && process.idleFault == .protocolError("it used CPU time without a request"))
        process.markIdle()
        #expect(process.idleFault == nil)
        _ = theirs.write([1])
        #expect(process.idleFault == .protocolError("it sent a message without a request"))
    }

    @Test func `few pixels are copied, so later writes of the worker do not change them`() throws {
        let copy = Locked<CInt>(-1)
        let worker = try PlayedWorker { pixels in
            copy.withLock { $0 = dup(pixels) }
            return Self.answer()(pixels)
        }
        guard case .done(let image) = try worker.outcome() else {
            Issue.record("an honest answer was refused")
            return
        }
        let kept = copy.withLock { $0 }
        let byte: [UInt8] = [1]
        #expect(unsafe pwrite(kept, byte, 1, 0) == 1)
        #expect(image.pixels.array.allSatisfy { $0 == 0 })
        close(kept)
    }

    /// Writes `bytes` to the memory and claims that they are a file of `count` bytes.
    private static func leaving(_ bytes: [UInt8], count: Int) -> @Sendable (CInt) -> [UInt8]? {
        { output in
            guard unsafe pwrite(output, bytes, bytes.count, 0) == bytes.count else { return nil }
            return WorkerResponse.encoded(byteCount: count).message
        }
    }

    @Test func `only an AVIF file of the image's size is accepted`() throws {
        let file = ImageFixture.avif.bytes.array
        let whole = try PlayedWorker(Self.leaving(file, count: file.count)).encodingOutcome()
        guard case .done(let avif) = whole else {
            Issue.record("an honest answer was refused")
            return
        }
        #expect(avif.array == file)
        try ImageLibrary.start()
        let pixels = [UInt8](repeating: 7, count: 65 * 48)
        let size = PixelSize(width: 65, height: 48)
        let other = try ImageEncoder.encode(pixels: pixels, size: size, bands: 1, format: .avif, quality: 50).bytes
            .array
        let jpeg = ImageFixture.jpeg.bytes.array
        for (lie, count) in [(jpeg, jpeg.count), (other, other.count), (file, 0), (file, 40), (file, 1 << 40)] {
            guard case .protocolError = try PlayedWorker(Self.leaving(lie, count: count)).encodingOutcome() else {
                Issue.record("\(count) bytes were accepted")
                continue
            }
        }
        guard case .protocolError = try PlayedWorker(Self.answer()).encodingOutcome() else {
            Issue.record("pixels were taken for a file")
            return
        }
        guard case .protocolError = try PlayedWorker(Self.leaving(file, count: file.count)).outcome() else {
            Issue.record("a file was taken for pixels")
            return
        }
    }
}
